/**
 * Tells a run in lines that a person can read: one a step, warnings in colour, and below them how far the present work is (on a terminal
 * only). Prints to standard error, so that standard output stays for results.
 */
import { styleText } from 'node:util';
import type { Metrics, RunEvent, Stage } from '../domain/event.js';
import { plainText } from './plainText.js';

const STAGE_NAMES: Readonly<Record<Stage, string>> = { base: 'base', sft: 'SFT', rl: 'RL' };

export class Narrator {
  readonly #out: NodeJS.WriteStream;
  #steps = new Map<Stage, number>();
  #times: number[] = [];
  #status = false;
  #drawn = 0;

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
  }

  /** A line of its own. */
  line(text: string): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  readonly log = (text: string, level: 'info' | 'warning' = 'info'): void => {
    this.line(level === 'warning' ? styleText('red', `warning: ${plainText(text)}`, { stream: this.#out }) : text);
  };

  /** Overwritten by what comes next. */
  readonly progress = (what: string, done: number, all: number): void => {
    if (!this.#out.isTTY) return;
    const now = Date.now();
    if (done < all && now - this.#drawn < 100) return;
    this.#drawn = now;
    const width = 24;
    const filled = all === 0 ? width : Math.round((done / all) * width);
    this.#clear();
    this.#out.write(`  ${what} ${'━'.repeat(filled)}${'╌'.repeat(width - filled)} ${done}/${all}`);
    this.#status = true;
  };

  readonly event = (event: RunEvent): void => {
    switch (event.kind) {
      case 'stageStarted':
        this.#steps.set(event.stage, event.steps);
        this.#times = [];
        return;
      case 'stepEnded':
        this.line(this.#stepLine(event.stage, event.step, event.metrics));
        return;
      case 'evaluation':
        if (event.record.name === 'main') this.line(evaluationLine(event.record.stage, event.record.step, event.record.metrics));
        return;
      default:
        return;
    }
  };

  /** Leaves the terminal as it should be. */
  end(): void {
    this.#clear();
  }

  #stepLine(stage: Stage, step: number, metrics: Metrics): string {
    const steps = this.#steps.get(stage) ?? 0;
    const seconds = metrics['seconds/step'] ?? metrics['seconds/training'] ?? 0;
    this.#times = [...this.#times.slice(-4), seconds + (metrics['seconds/checkpoint'] ?? 0)];
    const left = (this.#times.reduce((a, b) => a + b, 0) / this.#times.length) * (steps - step - 1);
    const head = `${STAGE_NAMES[stage].padEnd(4)} ${String(step + 1).padStart(String(steps).length)}/${steps}`;
    return `${head}  ${stage === 'sft' ? sftText(metrics) : rlText(metrics)}  ${seconds.toFixed(1)} s${step + 1 < steps ? `, ${duration(left)} left` : ''}`;
  }

  #clear(): void {
    if (!this.#status) return;
    this.#out.write('\r\u001b[2K');
    this.#status = false;
  }
}

const sftText = (m: Metrics): string => `loss ${fixed(m['train/loss'], 3)}  gradient ${fixed(m['train/gradNorm'], 2)}`;

function rlText(m: Metrics): string {
  const right = m['rollout/accuracy'];
  const parts = [
    ...(right === undefined ? [] : [`right ${percent(right).padStart(4)} ${bar(right)}`]),
    `reward ${signed(m['reward/total'])}`,
    `calls ${fixed(m['rollout/calls'], 2)}${m['rollout/toolSuccess'] === undefined ? '' : ` (${percent(m['rollout/toolSuccess'])} ok)`}`,
    `tokens ${fixed(m['rollout/modelTokens'], 0)}`,
    `entropy ${fixed(m['rollout/entropy'], 2)}`,
  ];
  return parts.join('  ');
}

function evaluationLine(stage: Stage, step: number, m: Metrics): string {
  const when = stage === 'rl' ? `after ${step} RL steps` : stage === 'sft' ? 'after SFT' : 'before training';
  const interval = m.intervalLow === undefined ? '' : ` [${percent(m.intervalLow)}, ${percent(m.intervalHigh)}]`;
  return `     evaluation ${when}: right ${percent(m.accuracy)}${interval} of ${m.problems} problems, ${fixed(m.callsPerRollout, 2)} calls a rollout`;
}

/** Eight columns, in eighths. */
function bar(share: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * 64);
  const part = ' ▏▎▍▌▋▊▉'[eighths % 8]!;
  return `${'█'.repeat(Math.floor(eighths / 8))}${eighths % 8 === 0 ? '' : part}`.padEnd(8, '·');
}

export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined || Number.isNaN(share) ? '–' : `${Math.round(share * 100)}%`;
export const fixed = (value: number | undefined, digits: number): string => (value === undefined ? '–' : value.toFixed(digits));
const signed = (value: number | undefined): string => (value === undefined ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`);

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
