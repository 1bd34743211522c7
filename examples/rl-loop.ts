/**
 * Reinforcement learning with a tool, the whole loop in one file: sample, call, read, answer; reward; advantage; update. GRPO-TCR as the
 * trainer does it, without its conveniences (no retries, no checkpoints, no evaluation); a test keeps the two equal to the last bit.
 *
 *     npx tsx examples/rl-loop.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ChatFormat,
  calcProblems,
  clippedLoss,
  codeInterpreter,
  deriveSeed,
  finalText,
  grpoAdvantages,
  limitText,
  mathGrader,
  miniBatches,
  openCodeRunner,
  paperReward,
  parseTurn,
  problemsOfStep,
  resolveModel,
  type Sampler,
  startEmbeddedEngine,
  Toolbox,
  ToolSession,
  type Trajectory,
  Transcript,
  type Turn,
  toDatum,
  toResponse,
  weightedAdvantages,
} from 'toolwise';

export interface LoopOptions {
  readonly seed: number;
  readonly steps: number;
  readonly groups: number;
  readonly groupSize: number;
  readonly updates: number;
}

export interface StepResult {
  readonly reward: number;
  readonly accuracy: number;
  readonly loss: number;
  readonly gradNorm: number;
}

const LIMITS = { turns: 4, turnTokens: 64, responseTokens: 160, toolTokens: 48, malformedInARow: 3 };
const CLIP = { low: 0.2, high: 0.28, dual: 10 };
const ADAM = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.01, gradClipNorm: 1 };
const LEARNING_RATE = 3e-4;

export async function loop(options: LoopOptions, say: (line: string) => void): Promise<StepResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rl-loop-'));
  const model = await resolveModel('nano', { log: say });
  const format = await ChatFormat.load(model.folder, { tools: 'omit' });
  const runner = await openCodeRunner({ kind: 'auto', workers: 2 });
  const engine = await startEmbeddedEngine({
    models: { nano: model.folder },
    checkpoints: join(folder, 'checkpoints'),
    logFile: join(folder, 'engine.log'),
    dtype: 'float32',
    threads: 1,
  });
  try {
    const tools = new Toolbox([codeInterpreter(runner, { timeoutSeconds: 2, memoryMb: 512 })]);
    const reward = paperReward({ overlong: { maxTokens: 160, bufferTokens: 32 } });
    const problems = calcProblems({
      size: 'small',
      split: 'train',
      seed: deriveSeed(options.seed, 'train'),
      count: options.steps * options.groups,
    });
    const policy = await engine.createTrainer({ model: 'nano' });
    const results: StepResult[] = [];

    for (let step = 0; step < options.steps; step++) {
      // 1. Freeze the policy and let it try each problem several times.
      const sampler = await policy.publish();
      const asked = problemsOfStep(problems, options.seed, step, options.groups);
      const seats = asked.flatMap((problem, occurrence) =>
        Array.from({ length: options.groupSize }, (_, sample) => ({
          problem,
          group: `rl/${step}/${occurrence}`,
          id: `rl/${step}/${occurrence}/${sample}`,
          seed: (turn: number) => deriveSeed(options.seed, step, occurrence, sample, turn, 0),
        })),
      );
      const trajectories = await rollouts(seats, sampler, format, tools, `step ${step}`);

      // 2. Grade, reward, and compare the attempts at one problem with each other (Eq. 3).
      const graded = trajectories.map((trajectory) => ({ trajectory, verdict: mathGrader(trajectory) }));
      const rewards = graded.map(({ trajectory, verdict }) => reward(trajectory, verdict).total);
      const groups = asked.map((_, g) => {
        const from = g * options.groupSize;
        const advantages = grpoAdvantages(rewards.slice(from, from + options.groupSize));
        return trajectories.slice(from, from + options.groupSize).map((trajectory, i) => ({ trajectory, advantage: advantages[i]! }));
      });

      // 3. A few updates, each on a mini-batch of whole groups; the loss is the mean over its tokens (Eq. 4).
      const updates: { loss: number; gradNorm: number }[] = [];
      const batches = miniBatches(groups, options.updates);
      for (const [i, batch] of batches.entries()) {
        const members = batch.flat();
        const masks = members.map(({ trajectory }) => trajectory.mask);
        const weighted = weightedAdvantages(
          members.map(({ advantage }) => advantage),
          masks,
          'token-mean',
        );
        const trained = members.map((member, j) => ({ ...member, weighted: weighted[j]! })).filter(({ advantage }) => advantage !== 0);
        if (trained.length === 0) continue;
        const data = trained.map(({ trajectory, weighted: advantages }) =>
          toDatum(trajectory, { logProbs: trajectory.samplerLogProbs, advantages }),
        );
        const update = step * batches.length + i;
        const warmup = Math.round(0.1 * options.steps * batches.length);
        const learningRate = LEARNING_RATE * (warmup === 0 ? 1 : Math.min(1, (update + 1) / warmup));
        const [{ logProbs }, { gradNorm }] = await Promise.all([
          policy.forwardBackward(data, {
            name: 'ppo',
            config: { clip_low_threshold: 1 - CLIP.low, clip_high_threshold: 1 + CLIP.high, dual_clip: CLIP.dual },
          }),
          policy.optimStep({ ...ADAM, learningRate }),
        ]);
        const { loss } = clippedLoss(CLIP)(
          trained.map(({ trajectory, weighted: advantages }, j) => ({
            logProbs: toResponse(trajectory, logProbs[j]!),
            oldLogProbs: Float64Array.from(trajectory.samplerLogProbs),
            advantages,
            mask: Float64Array.from(trajectory.mask),
          })),
        );
        updates.push({ loss, gradNorm });
      }

      const result = {
        reward: mean(rewards),
        accuracy: mean(graded.map(({ verdict }) => (verdict.correct ? 1 : 0))),
        loss: mean(updates.map(({ loss }) => loss)),
        gradNorm: mean(updates.map(({ gradNorm }) => gradNorm)),
      };
      results.push(result);
      say(`step ${step + 1}: right ${Math.round(result.accuracy * 100)} %, reward ${result.reward.toFixed(3)}`);
    }
    return results;
  } finally {
    await engine.close();
    await runner.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Seat {
  readonly problem: Trajectory['problem'];
  readonly group: string;
  readonly id: string;
  readonly seed: (turn: number) => number;
}

/** All rollouts take their turns together: sample, call the tool, append what came back. Tokens are kept as they were sampled. */
async function rollouts(
  seats: readonly Seat[],
  sampler: Sampler,
  format: ChatFormat,
  tools: Toolbox,
  label: string,
): Promise<Trajectory[]> {
  const all = seats.map((seat) => ({
    seat,
    transcript: new Transcript(format.prompt([{ role: 'user', content: seat.problem.question }], tools.descriptions)),
    session: new ToolSession(tools, {
      problem: seat.problem,
      trajectoryId: seat.id,
      signal: new AbortController().signal,
      timeoutSeconds: 300,
      shorten: (text) => limitText(format.neutralise(text), LIMITS.toolTokens, format),
    }),
    turns: [] as Turn[],
    malformedInARow: 0,
    final: '',
    stop: undefined as Trajectory['stopReason'] | undefined,
  }));

  for (let round = 0; ; round++) {
    const live = all.filter(({ stop }) => stop === undefined);
    if (live.length === 0) break;
    const samples = await Promise.all(
      live.map(({ seat, transcript, turns }, index) =>
        sampler.sample({
          prompt: transcript.context(),
          maxTokens: Math.min(LIMITS.turnTokens, LIMITS.responseTokens - transcript.tokens.length),
          temperature: 1,
          topP: 1,
          seed: seat.seed(turns.length),
          stopTokenIds: format.stopTokenIds,
          lockstep: { key: `${label} round ${round}`, size: live.length, index },
        }),
      ),
    );
    await Promise.all(
      live.map(async (one, i) => {
        const sample = samples[i]!;
        const responseWasTheLimit = LIMITS.responseTokens - one.transcript.tokens.length <= LIMITS.turnTokens;
        one.transcript.appendSampled(sample);
        const text = format.decode(sample.stop === 'stop' ? sample.tokens.slice(0, -1) : sample.tokens);
        const segments = parseTurn(text, sample.stop === 'length');
        const turn = { text, segments, stop: sample.stop, tokens: sample.tokens.length, policyVersion: sampler.policyVersion };
        const calls = segments.filter((s) => s.kind === 'call' || s.kind === 'malformedCall' || s.kind === 'cutOffCall');
        const end = (stop: Trajectory['stopReason']): void => {
          one.turns.push({ ...turn, replies: [] });
          one.final = finalText(segments);
          one.stop = stop;
        };
        if (sample.stop === 'length') return end({ kind: 'tokenLimit', limit: responseWasTheLimit ? 'response' : 'turn' });
        if (calls.length === 0) return end({ kind: 'answered' });
        if (one.turns.length + 1 >= LIMITS.turns) return end({ kind: 'turnLimit' });

        // One call a turn; what cannot be read is told to the model.
        const replies = [];
        for (const [k, call] of calls.entries()) {
          if (k > 0) {
            replies.push(one.session.refuseFurther(1));
          } else if (call.kind === 'call') {
            one.malformedInARow = 0;
            const outcome = await one.session.call(call);
            if (outcome.kind === 'infra') throw new Error(outcome.error);
            replies.push(outcome.reply);
          } else {
            one.malformedInARow++;
            if (one.malformedInARow >= LIMITS.malformedInARow) return end({ kind: 'malformedLimit' });
            replies.push(one.session.refuse(call));
          }
        }
        const tokens = format.continuation(replies.map((reply) => reply.text));
        if (tokens.length >= LIMITS.responseTokens - one.transcript.tokens.length) return end({ kind: 'tokenLimit', limit: 'response' });
        one.transcript.appendReplies(tokens);
        one.turns.push({ ...turn, replies });
      }),
    );
  }

  return all.map(({ seat, transcript, turns, final, stop }) => ({
    trajectoryId: seat.id,
    groupId: seat.group,
    problem: seat.problem,
    promptTokens: transcript.promptTokens,
    tokens: transcript.tokens,
    mask: transcript.mask,
    samplerLogProbs: transcript.logProbs,
    turns,
    finalText: final,
    stopReason: stop!,
    seconds: 0,
  }));
}

const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await loop({ seed: 1, steps: 10, groups: 16, groupSize: 8, updates: 4 }, console.log);
}
