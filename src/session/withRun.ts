/**
 * Opens what a piece of work on a model needs, and a run folder that keeps what happens in it; closes both, however the work ends. Knows
 * nothing of training or evaluation.
 */
import { setMaxListeners } from 'node:events';
import { join, resolve } from 'node:path';
import { broadcast, type EventSink } from '../domain/event.js';
import type { Environment } from '../environments/environment.js';
import type { Recipe } from '../recipe/schema.js';
import { openRun } from '../runs/reader.js';
import { RunWriter } from '../runs/writer.js';
import type { AnyTool } from '../tools/callTool.js';
import { Session } from './session.js';
import { versions } from './versions.js';

/** Takes lines for a person; a warning is set apart from the rest. */
export type Log = (line: string, level?: 'info' | 'warning') => void;

export interface RunOptions<I> {
  readonly recipe: Recipe;
  /** Where the run is kept. */
  readonly folder: string;
  /** Go on with the run that is there. */
  readonly resume?: boolean;
  /** Where checkpoints are, if not there: those of another run. */
  readonly checkpoints?: string | undefined;
  readonly tools?: readonly AnyTool[];
  readonly environment?: Environment;
  /** Beside the machine, for a new run's record. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly log: Log;
  readonly onEvent?: EventSink | undefined;
  readonly signal: AbortSignal;
  /** Last checks against what was opened: where it throws, no run is written. */
  readonly prepare: (session: Session) => I;
}

export interface OpenRun<I> {
  readonly session: Session;
  readonly writer: RunWriter;
  /** Tells the run's record, then `onEvent`. */
  readonly sink: EventSink;
  /** What `prepare` made. */
  readonly input: I;
}

/** A run's folder: the one that was asked for, else a new one in `runs/`, named by the time. */
export const runFolder = (asked: string | undefined, name: string): string =>
  resolve(asked ?? join('runs', `${name}-${new Date().toISOString().replace(/[:.]/g, '-').slice(0, 19)}`));

/** @throws UserError for what the user can mend, and whatever the work throws */
export async function withRun<I, T>(options: RunOptions<I>, work: (run: OpenRun<I>) => Promise<T>): Promise<T> {
  const { recipe, folder, resume = false, tools, environment, log, signal } = options;
  // Every call to the engine listens to it.
  setMaxListeners(0, signal);
  const session = await Session.open({
    recipe,
    folder,
    checkpoints: options.checkpoints,
    ...(tools && { tools }),
    ...(environment && { environment }),
    log,
    warn: (line) => log(line, 'warning'),
    signal,
  });
  let writer: RunWriter | undefined;
  try {
    const input = options.prepare(session);
    const { model, engine } = session;
    writer = resume
      ? RunWriter.resume(folder)
      : RunWriter.create(folder, {
          recipe,
          model: { name: model.name, path: model.folder, source: model.source, weightsHash: model.hash },
          versions: versions(engine.capabilities, recipe.engine.url === undefined),
          seed: recipe.seed,
          extra: { ...session.machine(), ...(hasAny(session.toolHashes) && { mcp: session.toolHashes }), ...options.extra },
        });
    const sink = broadcast(writer.sink, options.onEvent ?? (() => undefined));
    const notes = resume ? changedServers(folder, session.toolHashes) : session.toolNotes;
    for (const text of notes) {
      sink({ kind: 'note', level: resume ? 'warning' : 'info', text });
      if (resume) log(text, 'warning');
    }
    return await work({ session, writer, sink, input });
  } finally {
    writer?.close();
    await session.close();
  }
}

const hasAny = (record: object): boolean => Object.keys(record).length > 0;

/** Of a run that goes on: the MCP servers whose tools are not what they were at its beginning. */
function changedServers(folder: string, hashes: Readonly<Record<string, string>>): string[] {
  const run = openRun(folder);
  try {
    const before = (run.info.extra?.mcp ?? {}) as Readonly<Record<string, unknown>>;
    return Object.entries(hashes).flatMap(([name, hash]) =>
      before[name] === undefined || before[name] === hash
        ? []
        : [`the tools of the MCP server ${name} are not those that the run began with: hash ${hash}, was ${String(before[name])}`],
    );
  } finally {
    run.close();
  }
}
