import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isLoopback } from '../../access.js';
import { page as htmlPage } from '../../html/page.js';
import type { ReportLink } from '../api.js';
import { type Served, serveDashboard } from './serve.js';
import { type Asked, HOSTILE, Place } from './testSupport.js';

let place: Place;
let server: Asked;
let assets: string;
beforeEach(() => {
  place = new Place();
  assets = join(place.folder, 'web');
  mkdirSync(join(assets, 'assets'), { recursive: true });
  writeFileSync(join(assets, 'index.html'), '<!doctype html><title>page</title>');
  writeFileSync(join(assets, 'assets', 'index-abcdef12.js'), 'export {};');
  writeFileSync(join(place.folder, 'secret.txt'), 'secret');
  server = place.serve({ assets });
});
afterEach(() => place.clean());

const from = (headers: Record<string, string>, method = 'GET'): Promise<Response> => server.response('/api/runs', { method, headers });

describe('whoever asks', () => {
  it.each(['127.0.0.1:7860', 'localhost:7860', 'localhost', '[::1]:7860', '127.1.2.3'])(
    'is answered at this machine’s own name: %s',
    async (host) => {
      expect((await from({ host })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:7860',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '0.0.0.0',
    '[::2]',
    '',
    '127.0.0.1@evil.example',
    'localhost:7860:1',
  ])('is refused under a name that was pointed here: %s', async (host) => {
    const response = await from({ host });
    expect(response.status).toBe(403);
    expect(((await response.json()) as { error: string }).error).toContain('its own address');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('may only read', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect((await from({ origin: 'https://evil.example' }, method)).status).toBe(403);
      expect((await from({ origin: 'null' }, method)).status).toBe(403);
      expect((await from({ origin: 'http://127.0.0.1:7860' }, method)).status).toBe(405);
      expect((await from({}, method)).status).toBe(405);
    }
    place.run('one');
    for (const path of ['/api/runs', '/api/events', '/api/runs/one/export/metrics.csv', '/']) {
      const response = await server.response(path, { method: 'HEAD' });
      expect([response.status, response.body], path).toEqual([200, null]);
    }
  });

  it('from another page gets nothing, and nothing is ever offered to one', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:7861', 'http://127.0.0.1:7860.evil.example', 'nonsense']) {
      expect((await from({ origin })).status, origin).toBe(403);
    }
    const response = await from({ origin: 'http://127.0.0.1:7860' });
    expect(response.status).toBe(200);
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('every answer', () => {
  it.each(['/', '/runs/x', '/assets/index-abcdef12.js', '/api/runs', '/api/events', '/api/nothing', '/api/runs/none', '/missing.js'])(
    'carries a policy under which nothing foreign runs: %s',
    async (path) => {
      const response = await server.response(path);
      const policy = response.headers.get('content-security-policy')!;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toMatch(/frame-ancestors '(none|self)'/);
      expect(policy).not.toContain('unsafe');
      expect(policy).not.toContain('http');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      await response.body?.cancel();
    },
  );
});

describe('the page', () => {
  it('is given at every path that names no file; its files by their names', async () => {
    for (const path of ['/', '/index.html', '/runs/demo', '/runs/demo/rollouts?x=1']) {
      const response = await server.response(path);
      expect(await response.text()).toContain('<title>page</title>');
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    const script = await server.response('/assets/index-abcdef12.js');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect((await server.response('/')).headers.get('cache-control')).toBe('no-cache');
  });

  it('says what to do where it was not built', async () => {
    rmSync(join(assets, 'index.html'));
    expect(await server.error('/')).toMatchObject({ status: 503, error: expect.stringContaining('npm run build') });
  });

  it('is no way to other files', async () => {
    symlinkSync(join(place.folder, 'secret.txt'), join(assets, 'link.js'));
    for (const path of [
      '/../secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e/secret.txt',
      '/%2e%2e%2fsecret.txt',
      '/assets/..%2f..%2fsecret.txt',
      '/assets/%252e%252e/secret.txt',
      '//etc/passwd',
      `/${encodeURIComponent('/etc/passwd')}`,
      '/%00secret.txt',
      '/secret.txt%00.js',
      '/link.js',
      '/..\\secret.txt',
      '/%5c..%5csecret.txt',
    ]) {
      const response = await server.response(path);
      const text = await response.text();
      expect(text, path).not.toContain('secret\n');
      expect(text, path).not.toMatch(/^secret$|root:/);
      expect([200, 404], path).toContain(response.status);
    }
  });
});

describe('reports', () => {
  const write = (name: string, text: string): void => writeFileSync(join(place.folder, name), text);

  it('of a run are listed and given under a policy by which nothing in them runs', async () => {
    place.run('one');
    write('one/report.html', `<!doctype html><title>R &amp; D &lt;b&gt;</title><style>p{}</style><script>alert(1)</script>`);
    write('one/report.json', '{"a": 1}');
    write('one/notes.md', '# About\n<script>alert(1)</script>');
    expect(await server.json<ReportLink[]>('/api/runs/one/reports')).toEqual([
      { name: 'notes.md', title: 'About', bytes: 33, kind: 'markdown' },
      { name: 'report.html', title: 'R & D <b>', bytes: expect.any(Number), kind: 'html' },
      { name: 'report.json', title: 'report.json', bytes: 8, kind: 'json' },
    ]);
    const html = await server.response('/api/runs/one/reports/report.html');
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = html.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/; sandbox$/);
    expect(policy).not.toContain('script-src');
    expect(await html.text()).toContain('<script>alert(1)</script>');
    expect((await server.response('/api/runs/one/reports/notes.md')).headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  it('beside runs are those that are ours', async () => {
    place.run('runs/one');
    mkdirSync(join(place.folder, 'data', 'set'), { recursive: true });
    write('data/set/inspect.html', htmlPage({ title: 'A set & more', body: [] }));
    write('data/other.html', '<!doctype html><title>not ours</title>');
    write('runs/one/report.html', htmlPage({ title: 'the run’s', body: [] }));
    expect(await server.json('/api/reports')).toEqual([
      { name: 'data/set/inspect.html', title: 'A set & more', bytes: expect.any(Number), kind: 'html' },
    ]);
    const page = await server.response(`/api/reports/${encodeURIComponent('data/set/inspect.html')}`);
    expect(await page.text()).toContain('<h1>A set &amp; more</h1>');
    expect(page.headers.get('content-security-policy')).toMatch(/; sandbox$/);
  });

  it('are only those that were listed', async () => {
    const folder = place.run('one');
    symlinkSync(join(place.folder, 'secret.txt'), join(folder, 'link.html'));
    write('page.html', '<p>somebody else’s</p>');
    for (const name of [
      'link.html',
      'run.sqlite',
      'recipe.yaml',
      '../secret.txt',
      '/etc/passwd',
      '..%2fsecret.txt',
      'report.html%00',
      'report.html/../../secret.txt',
    ]) {
      expect((await server.response(`/api/runs/one/reports/${encodeURIComponent(name)}`)).status, name).toBe(404);
    }
    expect(await server.json('/api/reports')).toEqual([]);
    expect((await server.response('/api/reports/page.html')).status).toBe(404);
  });
});

describe('the server', () => {
  let served: Served | undefined;
  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  const start = async (options: { host?: string; port?: number; token?: string } = {}): Promise<Served> => {
    served = await serveDashboard({ folder: place.folder, assets, ...options });
    return served;
  };

  it('listens on this machine alone, and says where', async () => {
    const { address, port, token } = await start();
    expect(address).toBe(`http://127.0.0.1:${port}/`);
    expect(token).toBeUndefined();
    expect((await fetch(`${address}api/runs`)).status).toBe(200);
  });

  it('refuses a name that was pointed here, over a real connection', async () => {
    const { port } = await start();
    const status = await new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port, path: '/api/runs', headers: { host: `evil.example:${port}` } }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  it('gives nothing outside for a path as it was sent', async () => {
    const { port } = await start();
    for (const path of [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/..%2f..%2fsecret.txt',
      '/api/runs/../../secret.txt',
      '/./../secret.txt',
    ]) {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () =>
          socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`),
        );
        let text = '';
        socket.on('data', (data) => (text += data));
        socket.on('end', () => resolve(text));
        socket.on('error', reject);
      });
      expect(answer, path).toMatch(/^HTTP\/1\.1 (200|400|404)/);
      expect(answer, path).not.toMatch(/secret$/);
    }
  });

  it('says which port is taken', async () => {
    const { port } = await start();
    await expect(serveDashboard({ folder: place.folder, assets, port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
  });

  it('asks for its token where others can reach it, and keeps it out of the address', async () => {
    const { address, port, token } = await start({ host: '0.0.0.0' });
    expect(address).toContain(`?token=${token}`);
    const base = `http://127.0.0.1:${port}`;
    expect((await fetch(`${base}/api/runs`)).status).toBe(401);
    expect((await fetch(`${base}/`)).status).toBe(401);
    expect((await fetch(`${base}/api/runs?token=wrong`)).status).toBe(401);
    expect((await fetch(`${base}/api/runs`, { headers: { cookie: `toolwise_ui=${token}` } })).status).toBe(401);
    const first = await fetch(`${base}/runs/x?a=1&token=${token}`, { redirect: 'manual' });
    expect([first.status, first.headers.get('location')]).toEqual([303, '/runs/x?a=1']);
    const cookie = first.headers.get('set-cookie')!;
    expect((await fetch(`${base}/api/runs`, { headers: { cookie: `${cookie.split('=')[0]}=wrong` } })).status).toBe(401);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect((await fetch(`${base}/api/runs`, { headers: { cookie: cookie.split(';')[0]! } })).status).toBe(200);
  });

  it('answers hostile names as text', async () => {
    const { address } = await start();
    const response = await fetch(`${address}api/runs/${encodeURIComponent(HOSTILE.markup!)}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('application/json');
  });
});

describe('an address', () => {
  it('is this machine’s own, or not', () => {
    for (const host of ['localhost', '127.0.0.1', '127.8.8.8', '::1']) expect(isLoopback(host), host).toBe(true);
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example', '1127.0.0.1', 'example'])
      expect(isLoopback(host), host).toBe(false);
  });
});
