/**
 * The Hugging Face hub and its cache on this machine. Honours HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, HF_HOME and HF_HUB_CACHE. Downloads
 * only what a causal LM needs, checks each big file's hash, and shows a folder only once it is whole.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { faultOfModelFolder } from './modelFolder.js';

export type HubResult =
  | { readonly kind: 'downloaded'; readonly folder: string; readonly revision: string }
  /** Nobody answers, or we are told to stay offline. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The hub answers, but does not give the model. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Whole snapshot of a model in the cache of the Hugging Face libraries, the one of `main` first. */
export function findInHubCache(repository: string, env: NodeJS.ProcessEnv = process.env): { folder: string; revision: string } | undefined {
  const cache = env.HF_HUB_CACHE || join(env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub');
  const root = join(cache, `models--${repository.replace('/', '--')}`);
  const snapshots = join(root, 'snapshots');
  if (!existsSync(snapshots)) return undefined;
  const main = join(root, 'refs', 'main');
  const first = existsSync(main) ? [readFileSync(main, 'utf8').trim()] : [];
  const revision = [...first, ...readdirSync(snapshots).sort()].find((name) => faultOfModelFolder(join(snapshots, name)) === undefined);
  return revision === undefined ? undefined : { folder: join(snapshots, revision), revision };
}

interface HubFile {
  readonly rfilename: string;
  readonly size?: number;
  readonly lfs?: { readonly sha256?: string; readonly size?: number };
}

const WANTED =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|model\.safetensors\.index)\.json$|^[^/]+\.(safetensors|jinja)$/;

/** Downloads the model into `folder`, unless the hub cannot be reached within seconds. */
export async function downloadFromHub(
  repository: string,
  folder: string,
  log: (line: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): Promise<HubResult> {
  const offline = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'].find((name) => /^(1|true|yes|on)$/i.test(env[name] ?? ''));
  if (offline !== undefined) return { kind: 'unreachable', reason: `${offline} is set` };
  const endpoint = (env.HF_ENDPOINT || 'https://huggingface.co').replace(/\/+$/, '');
  const headers = authorization(endpoint, env.HF_TOKEN);
  let listing: Response;
  try {
    listing = await fetch(`${endpoint}/api/models/${repository}/revision/main?blobs=true`, {
      headers,
      signal: AbortSignal.timeout(10_000),
    });
  } catch (error) {
    return { kind: 'unreachable', reason: `${endpoint} does not answer (${causeOf(error)})` };
  }
  if (listing.status >= 500) return { kind: 'unreachable', reason: `${endpoint} answers HTTP ${listing.status}` };
  if (!listing.ok) {
    const why = listing.status === 401 || listing.status === 403 ? '; a private or gated model needs HF_TOKEN' : '';
    return { kind: 'refused', reason: `${endpoint} answers HTTP ${listing.status} for ${repository}${why}` };
  }
  const { sha, siblings } = (await listing.json()) as { sha: string; siblings: HubFile[] };
  const files = siblings.filter((file) => WANTED.test(file.rfilename));
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  try {
    for (const file of files) {
      const size = file.lfs?.size ?? file.size;
      log(`${repository}: downloading ${file.rfilename}${size === undefined ? '' : ` (${(size / 1e6).toFixed(1)} MB)`}`);
      await download(`${endpoint}/${repository}/resolve/${sha}/${file.rfilename}`, headers, join(partial, file.rfilename), file);
    }
    const fault = faultOfModelFolder(partial);
    if (fault !== undefined) return { kind: 'refused', reason: `${repository} cannot be used: ${fault}` };
    writeFileSync(join(partial, SOURCE_FILE), `${JSON.stringify({ source: `hub ${endpoint} ${repository}@${sha}` })}\n`);
    mkdirSync(dirname(folder), { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
    return { kind: 'downloaded', folder, revision: sha };
  } catch (error) {
    return { kind: 'unreachable', reason: `the download of ${repository} broke off (${causeOf(error)})` };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Stands in a folder that set-up made: where its weights came from. */
export const SOURCE_FILE = 'toolwise-source.json';

export function readSource(folder: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, SOURCE_FILE), 'utf8')) as { source: string }).source;
  } catch {
    return undefined;
  }
}

async function download(url: string, headers: Record<string, string>, target: string, file: HubFile): Promise<void> {
  const answer = await fetch(url, { headers });
  if (!answer.ok || answer.body === null) throw new Error(`HTTP ${answer.status} for ${file.rfilename}`);
  const hash = createHash('sha256');
  await pipeline(
    Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(target),
  );
  const expected = file.lfs?.sha256;
  const got = hash.digest('hex');
  if (expected !== undefined && expected !== got) throw new Error(`${file.rfilename} has the hash ${got}, the hub says ${expected}`);
}

/** A token goes over https, or to this machine. */
function authorization(endpoint: string, token: string | undefined): Record<string, string> {
  const { protocol, hostname } = new URL(endpoint);
  const safe = protocol === 'https:' || hostname === 'localhost' || /^127\./.test(hostname);
  return token && safe ? { authorization: `Bearer ${token}` } : {};
}

const causeOf = (error: unknown): string => {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message;
};
