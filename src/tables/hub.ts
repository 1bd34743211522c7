/**
 * Files of data sets on the Hugging Face hub: named, fetched once, kept. Honours HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, HF_HOME and
 * HF_HUB_CACHE. The token goes to the hub alone: never over plain http to another machine, never along a redirect, never into a message.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, request } from 'undici';
import { homeFolder, makeInHome } from '../setup/paths.js';
import { UserError } from '../userError.js';

export interface HubOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Default: `homeFolder()`. */
  readonly home?: string;
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface HubFile {
  readonly file: string;
  /** With the commit it is from: `hf:owner/name/path@0123abc…`. */
  readonly name: string;
}

interface Source {
  readonly repository: string;
  readonly revision: string;
  /** Empty: the only table of the data set. */
  readonly path: string;
}

const SCHEME = 'hf:';
const TABLE = /\.(parquet|jsonl|ndjson|json|csv|tsv)(\.gz)?$/i;
const COMMIT = /^[0-9a-f]{40}$/;
const ATTEMPTS = 3;
const REDIRECTS = 5;

export const isHubSource = (source: string): boolean => source.startsWith(SCHEME);

/** `hf:owner/name/path@revision`, or `hf://datasets/owner/name@revision/path`. @throws UserError when it is neither */
export function parseHubSource(source: string): Source {
  const wrong = (why: string): UserError =>
    new UserError(
      `${JSON.stringify(source)} names no file of a data set: ${why}`,
      'For example hf:openai/gsm8k/main/test-00000-of-00001.parquet@main',
    );
  const [owner = '', nameAndRevision = '', ...rest] = source
    .slice(SCHEME.length)
    .replace(/^\/\/datasets\//, '')
    .split('/');
  const [name = '', early] = split(nameAndRevision);
  const [path = '', late] = split(rest.join('/'));
  if (!/^[\w-][\w.-]*$/.test(owner) || !/^[\w-][\w.-]*$/.test(name)) throw wrong('it begins with owner/name');
  if (path.split('/').some((part) => part === '..' || part === '.')) throw wrong('its path goes upwards');
  const revision = decodeURIComponent(late ?? early ?? 'main');
  if (!/^[\w.-]+(\/[\w.-]+)*$/.test(revision) || revision.includes('..')) throw wrong('its revision is none');
  return { repository: `${owner}/${name}`, revision, path };
}

function split(text: string): [string, string | undefined] {
  const at = text.indexOf('@');
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * The file on this machine: from our cache, from that of the Hugging Face libraries, or fetched. What a branch named when it was fetched
 * first stays what it names here; a commit in the address is exact.
 *
 * @throws UserError when it is nowhere, or the data set is gated and there is no token for it
 */
export async function fetchHubFile(source: string, options: HubOptions = {}): Promise<HubFile> {
  const env = options.env ?? process.env;
  const wanted = parseHubSource(source);
  const cache = join(options.home ?? homeFolder(), 'datasets', wanted.repository.replace('/', '--'));
  const known = cached(cache, wanted) ?? inHubCache(wanted, env);
  if (known !== undefined) return known;
  const offline = ['HF_HUB_OFFLINE', 'HF_DATASETS_OFFLINE'].find((name) => /^(1|true|yes|on)$/i.test(env[name] ?? ''));
  if (offline !== undefined)
    throw new UserError(`${source} is not on this machine, and ${offline} is set`, 'Unset it, or give a local file.');

  const hub = new Hub(wanted.repository, env, options);
  const { commit, files } = await hub.describe(wanted.revision);
  const path = wanted.path === '' ? onlyTable(wanted.repository, files) : wanted.path;
  if (!files.includes(path)) {
    throw new UserError(`the data set ${wanted.repository} has no file ${path}; it has: ${tablesOf(files)}`, 'Name one of them.');
  }
  const target = join(cache, commit, path);
  if (!existsSync(target)) await hub.download(commit, path, target);
  remember(cache, wanted.revision, commit);
  return { file: target, name: nameOf(wanted.repository, path, commit) };
}

const nameOf = (repository: string, path: string, commit: string): string => `${SCHEME}${repository}/${path}@${commit.slice(0, 12)}`;

const tablesOf = (files: readonly string[]): string => {
  const tables = files.filter((file) => TABLE.test(file));
  return tables.length === 0
    ? 'no table'
    : `${tables.slice(0, 20).join(', ')}${tables.length > 20 ? ` and ${tables.length - 20} more` : ''}`;
};

function onlyTable(repository: string, files: readonly string[]): string {
  const tables = files.filter((file) => TABLE.test(file));
  if (tables.length === 1) return tables[0]!;
  throw new UserError(
    `which file of ${repository}? It has: ${tablesOf(files)}`,
    `For example ${SCHEME}${repository}/${tables[0] ?? 'path'}`,
  );
}

const referenceFile = (cache: string, revision: string): string => join(cache, 'refs', encodeURIComponent(revision));

function cached(cache: string, { repository, revision, path }: Source): HubFile | undefined {
  const reference = referenceFile(cache, revision);
  const commit = COMMIT.test(revision) ? revision : existsSync(reference) ? readFileSync(reference, 'utf8').trim() : undefined;
  if (commit === undefined || path === '') return undefined;
  const file = join(cache, commit, path);
  return existsSync(file) ? { file, name: nameOf(repository, path, commit) } : undefined;
}

function remember(cache: string, revision: string, commit: string): void {
  if (COMMIT.test(revision)) return;
  const file = referenceFile(cache, revision);
  makeInHome(dirname(file));
  writeFileSync(file, `${commit}\n`);
}

function inHubCache({ repository, revision, path }: Source, env: NodeJS.ProcessEnv): HubFile | undefined {
  if (path === '') return undefined;
  const cache = env.HF_HUB_CACHE || join(env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), 'hub');
  const root = join(cache, `datasets--${repository.replace('/', '--')}`);
  const reference = join(root, 'refs', revision);
  const commit = COMMIT.test(revision) ? revision : existsSync(reference) ? readFileSync(reference, 'utf8').trim() : undefined;
  if (commit === undefined) return undefined;
  const file = join(root, 'snapshots', commit, path);
  return existsSync(file) ? { file, name: nameOf(repository, path, commit) } : undefined;
}

/** Talks to the hub about one data set. */
class Hub {
  readonly #endpoint: string;
  readonly #token: string | undefined;

  constructor(
    private readonly repository: string,
    env: NodeJS.ProcessEnv,
    private readonly options: HubOptions,
  ) {
    const address = env.HF_ENDPOINT || 'https://huggingface.co';
    if (!URL.canParse(address)) throw new UserError(`HF_ENDPOINT ${JSON.stringify(address)} is no address`);
    const { protocol, hostname } = new URL(address);
    const safe = protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
    this.#endpoint = address.replace(/\/+$/, '');
    this.#token = safe && env.HF_TOKEN ? env.HF_TOKEN : undefined;
  }

  async describe(revision: string): Promise<{ commit: string; files: string[] }> {
    const answer = await this.#get(`${this.#endpoint}/api/datasets/${this.repository}/revision/${encodeURIComponent(revision)}`);
    const { sha, siblings } = (await json(answer.body)) as { sha?: unknown; siblings?: { rfilename?: unknown }[] };
    if (typeof sha !== 'string' || !COMMIT.test(sha) || !Array.isArray(siblings))
      throw new UserError(`${this.#endpoint} does not answer as the hub does for ${this.repository}`, 'Check HF_ENDPOINT.');
    return { commit: sha, files: siblings.flatMap(({ rfilename }) => (typeof rfilename === 'string' ? [rfilename] : [])) };
  }

  /** The file appears under its name only once it is whole. */
  async download(commit: string, path: string, target: string): Promise<void> {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const url = `${this.#endpoint}/datasets/${this.repository}/resolve/${commit}/${encoded}`;
    makeInHome(dirname(target));
    const partial = join(dirname(target), `.${basename(target)}.${process.pid}.partial`);
    try {
      const { body, headers, linked } = await this.#get(url);
      const size = Number(headers['content-length'] ?? linked.size);
      this.options.log?.(`${this.repository}: downloading ${path}${size > 0 ? ` (${(size / 1e6).toFixed(1)} MB)` : ''}`);
      const hash = createHash('sha256');
      let got = 0;
      await pipeline(
        body,
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            hash.update(chunk);
            got += chunk.length;
            yield chunk;
          }
        },
        createWriteStream(partial),
        ...(this.options.signal ? [{ signal: this.options.signal }] : []),
      );
      if (size > 0 && headers['content-encoding'] === undefined && got !== size) throw new Error(`${got} of ${size} bytes came`);
      const digest = hash.digest('hex');
      if (linked.hash !== undefined && linked.hash !== digest) throw new Error(`its hash is ${digest}, the hub says ${linked.hash}`);
      renameSync(partial, target);
    } catch (error) {
      this.options.signal?.throwIfAborted();
      if (error instanceof UserError) throw error;
      throw new UserError(`the download of ${path} of ${this.repository} broke off: ${causeOf(error)}`, 'Try again.');
    } finally {
      rmSync(partial, { force: true });
    }
  }

  /** Follows redirects itself, so that it decides who gets the token. */
  async #get(address: string): Promise<Answer> {
    let url = address;
    let linked: Answer['linked'] = {};
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const answer = await this.#once(url);
      linked = { ...linked, ...linkedFacts(answer.headers) };
      const { location } = answer.headers;
      if (answer.statusCode < 300 || answer.statusCode >= 400 || typeof location !== 'string') {
        if (answer.statusCode === 200) return { body: answer.body, headers: answer.headers, linked };
        await answer.body.dump();
        throw this.#refusal(answer);
      }
      await answer.body.dump();
      const next = new URL(location, url);
      if (next.protocol !== 'https:' && next.origin !== new URL(url).origin)
        throw new UserError(`${this.#endpoint} redirects to ${next.origin}, which is not https; that is not followed`);
      url = next.href;
    }
    throw new UserError(`${this.#endpoint} redirects in circles for ${this.repository}`);
  }

  async #once(url: string): Promise<Dispatcher.ResponseData> {
    const own = this.#token !== undefined && new URL(url).origin === new URL(this.#endpoint).origin;
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await request(url, {
          headers: own ? { authorization: `Bearer ${this.#token}` } : {},
          headersTimeout: 30_000,
          bodyTimeout: 60_000,
          ...(this.options.signal && { signal: this.options.signal }),
        });
        if (attempt === ATTEMPTS || (answer.statusCode !== 429 && answer.statusCode < 500)) return answer;
        await answer.body.dump();
      } catch (error) {
        this.options.signal?.throwIfAborted();
        if (attempt === ATTEMPTS) {
          throw new UserError(
            `${new URL(url).origin} does not answer (${causeOf(error)})`,
            'Check the network and HF_ENDPOINT, or give a local file.',
          );
        }
      }
      await sleep(200 * 2 ** attempt, undefined, this.options.signal ? { signal: this.options.signal } : {});
    }
  }

  #refusal({ statusCode: status, headers }: Dispatcher.ResponseData): UserError {
    const code = headers['x-error-code'];
    const page = `${this.#endpoint}/datasets/${this.repository}`;
    const token =
      this.#token === undefined ? 'set HF_TOKEN to a token of your account' : 'make sure that the account of HF_TOKEN has access';
    if (code === 'GatedRepo' || status === 403)
      return new UserError(`the data set ${this.repository} is gated`, `Accept its terms at ${page} and ${token}.`);
    if (status === 401)
      return new UserError(`the data set ${this.repository} is gated, private, or not there`, `Look at ${page}; if it is there, ${token}.`);
    if (code === 'RevisionNotFound') return new UserError(`the data set ${this.repository} has no such revision`, `Look at ${page}.`);
    if (status === 404) return new UserError(`there is no data set ${this.repository} on ${this.#endpoint}, or no such file in it`);
    return new UserError(`${this.#endpoint} answers HTTP ${status} for ${this.repository}`, 'Try again later, or give a local file.');
  }
}

interface Answer {
  readonly body: Dispatcher.ResponseData['body'];
  readonly headers: Dispatcher.ResponseData['headers'];
  /** What the hub says of a large file before it redirects to where it lies. */
  readonly linked: { readonly hash?: string; readonly size?: string };
}

function linkedFacts(headers: Dispatcher.ResponseData['headers']): Answer['linked'] {
  const tag = headers['x-linked-etag'];
  const size = headers['x-linked-size'];
  const hash = typeof tag === 'string' ? /^"?([0-9a-f]{64})"?$/.exec(tag)?.[1] : undefined;
  return { ...(hash !== undefined && { hash }), ...(typeof size === 'string' && { size }) };
}

async function json(body: Dispatcher.ResponseData['body']): Promise<unknown> {
  try {
    return await body.json();
  } catch {
    return {};
  }
}

const causeOf = (error: unknown): string => {
  const { message, code } = error as Error & { code?: string };
  return code ?? message;
};
