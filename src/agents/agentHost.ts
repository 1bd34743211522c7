/**
 * Runs rollouts of one agent over a run: the recording endpoint that they share, how many are at work at once, failures in a row that stop
 * the run, and what a person is told once. One rollout is `agentRollout.ts`'s.
 */
import type { Problem } from '../domain/problem.js';
import type { Rollout } from '../domain/trajectory.js';
import type { RolloutAgent } from '../rollout/endpointAgent.js';
import type { RolloutSettings } from '../rollout/episode.js';
import type { RolloutInput } from '../rollout/runRollout.js';
import { Gate } from '../tools/gate.js';
import { UserError } from '../userError.js';
import type { Agent } from './agent.js';
import { agentModel } from './agentModel.js';
import { runAgentRollout } from './agentRollout.js';
import { AgentServer, type Posted } from './agentServer.js';
import type { AgentEnd } from './agentTask.js';
import { workOn } from './agentWork.js';

export interface AgentHostOptions {
  /** What the policy is called where an agent asks. */
  readonly modelId: string;
  readonly warn: (text: string) => void;
  /** How long an agent may go on once it has to end. Default 5 s. */
  readonly graceMs?: number;
}

const FAILURES_IN_A_ROW = 16;
/** Rollouts in a row in which the agent never asked its model, after which the run stops: there would be nothing to train. */
const SILENT_IN_A_ROW = 32;
/** Programs at once. */
const PROGRAMS = 16;
const GRACE_MS = 5_000;
/** Different ones. */
const MOST_NOTICES = 100;

export class AgentHost<P extends Problem = Problem> {
  readonly #agent: Agent<P>;
  readonly #options: AgentHostOptions;
  readonly #server: AgentServer;
  readonly #gate: Gate | undefined;
  readonly #told = new Set<string>();
  #failures = 0;
  #silent = 0;

  private constructor(agent: Agent<P>, options: AgentHostOptions, server: AgentServer) {
    this.#agent = agent;
    this.#options = options;
    this.#server = server;
    const places = agent.definition.concurrency ?? (agent.kind === 'program' ? PROGRAMS : undefined);
    this.#gate = places === undefined ? undefined : new Gate(places);
  }

  /** Whoever opens it closes it. */
  static async open<P extends Problem>(agent: Agent<P>, options: AgentHostOptions): Promise<AgentHost<P>> {
    const server = await AgentServer.open((text) => options.warn(`the recording endpoint failed: ${text}`));
    return new AgentHost(agent, options, server);
  }

  /** The agent on the policy of these settings; prompts and tools in them are not used: it has its own. */
  on(settings: RolloutSettings): RolloutAgent {
    // An agent is given for problems of its own kind, and those of a run are all of that kind.
    return { run: (input) => this.#run(settings, input as unknown as RolloutInput<P>) as Promise<Rollout<never>> };
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #run(settings: RolloutSettings, input: RolloutInput<P>): Promise<Rollout<P>> {
    const leave = await this.#gate?.enter(input.signal ?? new AbortController().signal);
    try {
      const { rollout, failure, modelCalls } = await runAgentRollout<P>({
        ...{ settings, input },
        failure: this.#agent.definition.failure ?? 'lost',
        onNotice: (text) => this.#tell(text),
        graceMs: this.#options.graceMs ?? GRACE_MS,
        start: (recording, signal) => this.#start(settings, input, recording, signal),
      });
      this.#count(rollout, failure, modelCalls);
      return rollout;
    } finally {
      leave?.();
    }
  }

  async #start(
    settings: RolloutSettings,
    input: RolloutInput<P>,
    recording: Parameters<Parameters<typeof runAgentRollout<P>>[0]['start']>[0],
    signal: AbortSignal,
  ): Promise<AgentEnd> {
    const { modelId, graceMs = GRACE_MS } = this.#options;
    const { problem, trajectoryId, groupId } = input;
    let tell: (end: AgentEnd) => void = () => undefined;
    const posted = new Promise<AgentEnd>((resolve) => {
      tell = resolve;
    });
    const { sampler, format } = settings;
    const opened = this.#server.rollout({ modelId, recording, settings: { sampler, format }, onEnd: (end) => tell(endOf(end)) });
    try {
      return await workOn(this.#agent, {
        ...{ problem, trajectoryId, groupId, modelId, signal, graceMs, posted },
        model: agentModel({
          modelId,
          answer: (call, options) => recording.answer(call, options),
          callFailed: (id) => recording.callFailed(id),
        }),
        rolloutUrl: opened.url,
        baseUrl: opened.baseUrl,
        apiKey: opened.apiKey,
        onNotice: (text) => this.#tell(text),
      });
    } finally {
      opened.close();
    }
  }

  /** @throws UserError where it was one too many */
  #count(rollout: Rollout<P>, failure: string | undefined, modelCalls: number): void {
    const most = this.#agent.definition.failuresInARow ?? FAILURES_IN_A_ROW;
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    if (this.#failures >= most) {
      throw new UserError(
        `the agent failed in ${most} rollouts in a row, at last in ${rollout.kind === 'infra' ? rollout.trajectoryId : rollout.trajectory.trajectoryId}: ${failure}`,
        'Mend the agent. Where it throws because of what the model writes, let it return what it has, or set failure: wrong.',
      );
    }
    if (rollout.kind === 'infra') return;
    this.#silent = modelCalls === 0 ? this.#silent + 1 : 0;
    if (this.#silent >= SILENT_IN_A_ROW) {
      throw new UserError(
        `the agent ended ${SILENT_IN_A_ROW} rollouts in a row without asking its model: there is nothing to train`,
        'Let it use the model that it is given, or the endpoint in OPENAI_BASE_URL.',
      );
    }
  }

  #tell(text: string): void {
    if (this.#told.has(text) || this.#told.size >= MOST_NOTICES) return;
    this.#told.add(text);
    this.#options.warn(text);
  }
}

const endOf = (posted: Posted): AgentEnd =>
  posted.kind === 'answer' ? { kind: 'answered', answer: posted.answer } : { kind: 'failed', error: posted.error };
