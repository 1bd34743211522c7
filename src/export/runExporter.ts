/** Runs the engine's exporter, a Python program of its own, and tells its progress. Knows no runs. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { engineFolder } from '../setup/paths.js';
import { UserError } from '../userError.js';

export interface Exported {
  readonly folder: string;
  readonly format: string;
  readonly dtype: string;
  readonly bytes: number;
  readonly files: readonly string[];
}

/**
 * @param args of `python -m toolwise_engine.export`
 * @throws UserError for what the exporter refuses; Error where it fails; the signal's reason
 */
export async function runExporter(
  python: string,
  args: readonly string[],
  options: { readonly log: (line: string) => void; readonly signal?: AbortSignal | undefined },
): Promise<Exported> {
  const { signal } = options;
  signal?.throwIfAborted();
  const child = spawn(python, ['-m', 'toolwise_engine.export', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PYTHONPATH: engineFolder(),
      HF_HUB_OFFLINE: '1',
      TRANSFORMERS_VERBOSITY: 'error',
      HF_HUB_DISABLE_PROGRESS_BARS: '1',
    },
  });
  // SIGTERM lets it take away what is half written.
  const stop = (): void => void child.kill('SIGTERM');
  signal?.addEventListener('abort', stop, { once: true });
  let stdout = '';
  let refusal: string | undefined;
  const errors: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const lines = createInterface({ input: child.stderr }).on('line', (line) => {
    errors.push(line);
    if (line.startsWith('error: ')) refusal = line.slice('error: '.length);
    else if (/^(reading|writing) /.test(line)) options.log(`export: ${line}`);
  });
  try {
    const [code] = await Promise.all([
      new Promise<number>((resolve, reject) => child.once('error', reject).once('close', (status) => resolve(status ?? 1))),
      new Promise<void>((resolve) => lines.once('close', resolve)),
    ]);
    signal?.throwIfAborted();
    if (code === 0) return JSON.parse(stdout.trim().split('\n').at(-1)!) as Exported;
    if (code === 2 && refusal !== undefined) throw new UserError(refusal);
    throw new ExportFailure(refusal ?? `the exporter ended with ${code}:\n${errors.slice(-12).join('\n')}`);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** The machine's failure: a full disk, no memory. */
export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';
}
