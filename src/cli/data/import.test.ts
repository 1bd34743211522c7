/** The command itself: exit codes, and what a program may read. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tables/testSupport.js';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const folder = temporaryFolder();

const run = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['--import', 'tsx', main, 'data', 'import', ...args], (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const line = (question: string): string =>
  `${JSON.stringify({ messages: [{ role: 'user', content: question }], response: { choices: [{ message: { role: 'assistant', content: '4' } }] } })}\n`;

describe('toolwise data import', () => {
  it('writes nothing private unasked, and stand-ins on request', { timeout: 60_000 }, async () => {
    const log = folder.write('log.jsonl', [line('What is 2 + 2?'), line('Ask jane.doe@uni-mainz.de.'), 'no JSON\n'].join(''));
    const out = join(folder.path, 'set.jsonl');
    const refused = await run(log, '--out', out);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(
      /log\.jsonl:3: not valid JSON[\s\S]*error: there is what should not be passed on \(1 email\)[\s\S]*--redact/,
    );
    expect(refused.err).not.toMatch(/jane|\n {4}at /);
    expect(existsSync(out)).toBe(false);
    const written = await run(log, '--out', out, '--redact', '--json');
    expect(written.code, written.err).toBe(0);
    expect(JSON.parse(written.out)).toMatchObject({ rows: 2, unreadable: 1, private: { email: 1 }, redacted: true, file: out });
    expect(await run(log, '--out', out, '--redact')).toMatchObject({ code: 2, err: expect.stringMatching(/is there already/) });
    const both = await run(log, '--out', out, '--redact', '--allow-private');
    expect(both).toMatchObject({ code: 2, err: expect.stringMatching(/exclude each other/) });
  });
});
