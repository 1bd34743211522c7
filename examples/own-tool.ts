/**
 * Your own tool and your own reward: nano learns to use a calculator, and to use it once.
 *
 *     npx tsx examples/own-tool.ts
 *
 * STEPS in the environment shortens it.
 */
import { type CalcProblem, calcProblems, openCodeRunner, tool, train, z } from 'toolwise';

const sandbox = await openCodeRunner({ kind: 'auto', workers: 2 });

const calculator = tool({
  name: 'code_interpreter', // the name that nano was pretrained to call
  description: 'Run Python code and return what it prints.',
  parameters: z.object({ code: z.string() }),
  execute: async ({ code }, { signal }) => {
    const result = await sandbox.run({ code, timeoutSeconds: 2, memoryMb: 512, echoLast: true }, signal);
    if (result.kind === 'infra') return result;
    return result.exitCode === 0 ? { kind: 'ok', text: result.stdout.trim() } : { kind: 'error', text: 'that did not work' };
  },
});

const problems = (split: 'train' | 'evaluation', count: number): CalcProblem[] => calcProblems({ size: 'small', split, seed: 1, count });

const { report, folder } = await train<CalcProblem>({
  recipe: {
    name: 'own-tool',
    extends: 'nano',
    model: 'nano',
    stages: ['rl'],
    tools: [],
    rl: { steps: Number(process.env.STEPS ?? 30) },
    problems: { train: 'calc-small', evaluation: 'calc-small' },
  },
  problems: { train: problems('train', 160), evaluation: problems('evaluation', 128) },
  tools: [calculator],
  reward: ({ finalText, problem, turns }) => ({
    right: finalText.includes(`\\boxed{${problem.answer}}`) ? 1 : -1,
    thrift: -0.1 * Math.max(0, turns.length - 2),
  }),
  log: console.log,
  onEvent: (event) => {
    if (event.kind === 'stepEnded') console.log(`step ${event.step + 1}: reward ${event.metrics['reward/total']?.toFixed(2)}`);
  },
});

console.log(`before: ${report.stages.base?.accuracy}, after: ${report.stages.rl?.accuracy}; the run is in ${folder}`);
await sandbox.close();
