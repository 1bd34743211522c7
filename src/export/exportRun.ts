/**
 * Writes a checkpoint of a run for other programs: as a Hugging Face folder, a peft adapter or a GGUF file, with a card. Finds what belongs
 * together (checkpoint, base model, tokenizer) and refuses what does not; the weights themselves are written by the engine's exporter.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { systemText } from '../chat/prompts.js';
import type { CheckpointRecord, EvaluationRecord, Stage } from '../domain/event.js';
import { openRun, type Run } from '../runs/reader.js';
import { findCheckpoint, splitRun } from '../session/modelSource.js';
import { faultOfModelFolder, hashWeights } from '../setup/modelFolder.js';
import { homeFolder } from '../setup/paths.js';
import { ensurePythonEnv } from '../setup/pythonEnv.js';
import { publishedName, resolveModel } from '../setup/weights.js';
import { UserError } from '../userError.js';
import { makeFolder } from '../userPath.js';
import { modelCard } from './card.js';
import { runExporter } from './runExporter.js';

export const EXPORT_FORMATS = ['hf', 'peft', 'gguf'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
export const EXPORT_DTYPES = ['bfloat16', 'float16', 'float32'] as const;
export type ExportDtype = (typeof EXPORT_DTYPES)[number];

/** Lies in every exported folder: what it is. Only a folder that holds it is ever replaced. */
export const EXPORT_FILE = 'toolwise.json';

export interface ExportOptions {
  /** The folder of a run: its last checkpoint; `RUN@sft`, `RUN@rl`: the end of a stage; `RUN@NAME`: that checkpoint; `RUN@base`: untrained. */
  readonly run: string;
  readonly to: string;
  /** Default: `hf`. */
  readonly format?: ExportFormat;
  /** Default: the precision that the run computed in; of an adapter float32. */
  readonly dtype?: ExportDtype;
  /** Replace an earlier export. */
  readonly force?: boolean;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface ExportResult {
  readonly folder: string;
  readonly format: ExportFormat;
  readonly dtype: ExportDtype;
  readonly baseModel: string;
  /** Absent: the model that the run began with. */
  readonly checkpoint?: Pick<CheckpointRecord, 'path' | 'stage' | 'step'>;
  readonly files: readonly string[];
  readonly bytes: number;
}

/** @throws UserError for what the user can mend; ExportFailure; the signal's reason. Nothing half-written stays. */
export async function exportRun(options: ExportOptions): Promise<ExportResult> {
  const { format = 'hf', log, signal } = options;
  const to = checkTarget(options.to, options.force ?? false);
  const [folder, which] = splitRun(options.run);
  const run = openRun(folder);
  try {
    const checkpoint = findCheckpoint(run, which);
    if (!checkpoint && which !== 'base')
      throw new UserError(`the run in ${folder} has no checkpoint yet`, `@base exports the model it began with: ${folder}@base`);
    const place = checkpoint && checkpointFolder(run, checkpoint);
    const rank = place === undefined ? undefined : rankOf(place);
    if (format === 'peft') refuseWithoutAdapter(options.run, checkpoint, rank);
    const base = await baseModel(run, rank !== undefined, log);
    const dtype = options.dtype ?? (format === 'peft' ? 'float32' : dtypeOf(run));
    const python = await ensurePythonEnv({ log, ...(format === 'gguf' && !process.env.TOOLWISE_ENGINE_PYTHON && { extras: ['convert'] }) });
    const scratch = mkdtempSync(join(tmpdir(), 'toolwise-export-'));
    try {
      const title = `${base.name.split('/').at(-1)}-${run.info.recipe.name}`;
      const card = modelCard({
        title,
        format,
        dtype,
        info: run.info,
        ...(checkpoint && { checkpoint }),
        base,
        ...(rank !== undefined && { rank }),
        steps: stepsUpTo(run, checkpoint),
        evaluations: evaluationsUpTo(run, checkpoint),
        system: systemText(run.info.recipe.prompt.mode, run.info.recipe.prompt.system),
        tools: run.info.recipe.tools,
      });
      writeFileSync(join(scratch, 'README.md'), card);
      writeFileSync(join(scratch, EXPORT_FILE), `${JSON.stringify(provenance(run, checkpoint, base, format, dtype), null, 2)}\n`);
      const made = await runExporter(
        python,
        [
          ...['--model', base.folder, '--to', to, '--format', format, '--dtype', dtype, '--base-name', base.name],
          ...(place === undefined ? [] : ['--checkpoint', place]),
          ...['README.md', EXPORT_FILE].flatMap((name) => ['--add', join(scratch, name)]),
          ...(options.force ? ['--force'] : []),
        ],
        { log, signal },
      );
      const about = checkpoint && { path: checkpoint.path, stage: checkpoint.stage, step: checkpoint.step };
      return { folder: to, format, dtype, baseModel: base.name, ...(about && { checkpoint: about }), files: made.files, bytes: made.bytes };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  } finally {
    run.close();
  }
}

/** Empty, missing, or an earlier export that may be replaced. */
function checkTarget(to: string, force: boolean): string {
  const folder = resolve(to);
  makeFolder(dirname(folder), 'Give a folder that can be written.');
  if (!existsSync(folder)) return folder;
  if (!statSync(folder).isDirectory()) throw new UserError(`${to} is a file`, 'Give a folder.');
  const inside = readdirSync(folder);
  if (inside.length === 0) return folder;
  const ours = inside.includes(EXPORT_FILE);
  if (!ours)
    throw new UserError(
      `${to} is not empty, and no export of this program`,
      'Give a folder of its own; --force replaces an earlier export only.',
    );
  if (!force) throw new UserError(`${to} holds an export already`, 'Give another folder, or --force to replace it.');
  return folder;
}

/** Where the embedded engine keeps it. @throws UserError for one on a server, or gone */
function checkpointFolder(run: Run, { path }: CheckpointRecord): string {
  const { url } = run.info.recipe.engine;
  if (url !== undefined) {
    throw new UserError(
      `the checkpoint ${path} lies on the server ${new URL(url).origin}, not here`,
      'docs/export.md says how to get it from there. RUN@base exports the model that the run began with.',
    );
  }
  const place = /^tinker:\/\/([\w:-]+)\/(weights|sampler_weights)\/([\w.-]+)$/.exec(path);
  if (!place) throw new UserError(`the checkpoint ${path} is none of the embedded engine`);
  const folder = join(run.folder, 'checkpoints', place[1]!, place[2]!, place[3]!);
  if (!existsSync(join(folder, 'state.json'))) {
    throw new UserError(
      `the checkpoint ${place[3]} is not in ${join(run.folder, 'checkpoints')}`,
      'It was deleted, or not copied with the run.',
    );
  }
  return folder;
}

const rankOf = (folder: string): number | undefined =>
  (JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { lora?: { rank: number } | null }).lora?.rank;

function refuseWithoutAdapter(run: string, checkpoint: CheckpointRecord | undefined, rank: number | undefined): void {
  if (rank !== undefined) return;
  throw new UserError(
    checkpoint ? `${run} trained all weights: there is no LoRA adapter to export` : `${run} is the untrained model: it has no adapter`,
    'Use --format hf or gguf. A run with loraRank above 0 trains an adapter.',
  );
}

interface Base {
  readonly name: string;
  readonly onHub: boolean;
  readonly folder: string;
  readonly source: string;
  readonly hash?: string;
}

/** The model that the run began with. @throws UserError where its weights are needed and are not those of the run */
async function baseModel({ info }: Run, needsWeights: boolean, log: (line: string) => void): Promise<Base> {
  const { name, path, weightsHash, source = '' } = info.model;
  const known = { ...publishedName(name), source: sourceWithoutPlaces(source) };
  if (path !== undefined && faultOfModelFolder(path) === undefined) {
    const hash = await hashWeights(path, homeFolder());
    if (weightsHash === undefined || hash === weightsHash) return { ...known, folder: path, hash };
  }
  const found = await resolveModel(name, { log });
  if (weightsHash !== undefined && found.hash !== weightsHash) {
    const what = `the weights of ${name} (${found.source}) are not those that the run began with`;
    if (needsWeights) throw new UserError(what, `An adapter fits only those with the SHA-256 ${weightsHash}: put them back in place.`);
    log(`${what}; only its configuration and tokenizer are taken`);
  }
  return { ...known, folder: found.folder, hash: weightsHash ?? found.hash };
}

function sourceWithoutPlaces(source: string): string {
  if (source === '' || source.startsWith('folder ')) return 'from a local folder';
  return source.replace(/^hub \S+ /, 'hub ');
}

function dtypeOf({ info }: Run): ExportDtype {
  const asked = info.recipe.engine.dtype;
  const computed = asked === 'auto' ? info.extra?.dtype : asked;
  return EXPORT_DTYPES.find((dtype) => dtype === computed) ?? 'float32';
}

const ORDER: readonly Stage[] = ['base', 'sft', 'rl'];

function evaluationsUpTo(run: Run, checkpoint: CheckpointRecord | undefined): EvaluationRecord[] {
  const end = checkpoint ?? { stage: 'base', step: 0 };
  const within = ({ stage, step }: EvaluationRecord): boolean =>
    ORDER.indexOf(stage) < ORDER.indexOf(end.stage) || (stage === end.stage && step <= end.step);
  return run.evaluations().filter((record) => record.name === 'main' && within(record));
}

function stepsUpTo(run: Run, checkpoint: CheckpointRecord | undefined): Partial<Record<Stage, number>> {
  if (!checkpoint) return {};
  const before = run.lastStep('sft');
  return {
    ...(checkpoint.stage === 'rl' && before !== undefined && { sft: before + 1 }),
    [checkpoint.stage]: checkpoint.step,
  };
}

function provenance(run: Run, checkpoint: CheckpointRecord | undefined, base: Base, format: ExportFormat, dtype: ExportDtype): object {
  const { recipe, seed, versions } = run.info;
  return {
    format,
    dtype,
    recipe: recipe.name,
    seed,
    toolwise: versions.toolwise,
    baseModel: base.name,
    baseWeights: base.hash,
    ...(checkpoint && {
      checkpoint: basename(checkpoint.path),
      stage: checkpoint.stage,
      step: checkpoint.step,
      policyVersion: checkpoint.policyVersion,
    }),
  };
}
