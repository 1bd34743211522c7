/** What a running study says on standard error: one line that is rewritten on a terminal, a line now and then elsewhere. */
import { clearLine, cursorTo } from 'node:readline';
import type { StudyProgress } from '../study/runStudy.js';

const EVERY_MS = 30_000;

export class StudyProgressLine {
  readonly #terminal = process.stderr.isTTY === true;
  #open = false;
  #last = 0;

  readonly show = (progress: StudyProgress): void => {
    const now = Date.now();
    if (!this.#terminal && now - this.#last < EVERY_MS) return;
    this.#last = now;
    const text = progressText(progress);
    if (!this.#terminal) return void process.stderr.write(`${text}\n`);
    this.#clear();
    process.stderr.write(text.slice(0, Math.max(20, (process.stderr.columns ?? 80) - 1)));
    this.#open = true;
  };

  readonly log = (line: string, level?: 'info' | 'warning'): void => {
    this.#clear();
    process.stderr.write(`${level === 'warning' ? 'warning: ' : ''}${line}\n`);
  };

  end(): void {
    this.#clear();
  }

  #clear(): void {
    if (!this.#open) return;
    clearLine(process.stderr, 0);
    cursorTo(process.stderr, 0);
    this.#open = false;
  }
}

export function progressText({ done, all, running, left }: StudyProgress): string {
  const now = running.map(({ arm, block, stage, step, steps }) => `${arm} b${block + 1} ${stage} ${step}/${steps}`);
  const rest = left === undefined ? '' : `, ${left < 90 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`} left`;
  return `${done}/${all} arm-runs${rest}${now.length > 0 ? `; ${now.join('; ')}` : ''}`;
}
