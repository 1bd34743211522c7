import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { run } from '../../setup/command.js';
import { temporaryFolder } from '../../tables/testSupport.js';

const folder = temporaryFolder();
const main = fileURLToPath(new URL('../main.ts', import.meta.url));
const toolwise = (...args: string[]) => run(process.execPath, ['--import', 'tsx', main, 'data', ...args]);
const set = (name: string): string =>
  folder.write(name, '{"question": "What is 6 * 7?", "answer": "42"}\n{"question": "What is 1/2 + 1/2?", "answer": "\\\\frac{2"}\n');

describe('toolwise data', () => {
  it('lists its commands, with and without being asked, and refuses one that is none', async () => {
    const [help, bare, wrong] = await Promise.all([toolwise('--help'), toolwise(), toolwise('inspekt', 'x')]);
    for (const name of ['inspect', 'check']) {
      expect(help.stdout).toContain(`  ${name} `);
      expect(bare.output).toContain(`  ${name} `);
    }
    expect([help.status, wrong.status]).toEqual([0, 2]);
    expect(wrong.output).toContain("unknown command 'inspekt'");
  });
});

describe('data inspect', () => {
  it('prints for people and for programs, writes a page, and overwrites nothing unasked', async () => {
    const file = set('inspect.jsonl');
    const page = `${folder.path}/page.html`;
    const first = await toolwise('inspect', file, '--html', page);
    expect({ status: first.status, text: first.stdout }).toMatchObject({
      status: 0,
      text: expect.stringContaining('2 rows of jsonl, problems, schema plain'),
    });
    expect(readFileSync(page, 'utf8')).toContain('What is 6 * 7?');
    const [again, forced, json] = await Promise.all([
      toolwise('inspect', file, '--html', page),
      toolwise('inspect', file, '--html', page, '--force'),
      toolwise('inspect', file, '--json'),
    ]);
    expect([again.status, forced.status, json.status]).toEqual([2, 0, 0]);
    expect(again.output).toContain('--force');
    expect(JSON.parse(json.stdout)).toMatchObject({ kind: 'problems', rows: 2, broken: { count: 0 } });
  });

  it('says in one sentence what it cannot read', async () => {
    const { status, output } = await toolwise('inspect', `${folder.path}/none.jsonl`);
    expect({ status, output: output.trim() }).toEqual({
      status: 2,
      output: `error: ${folder.path}/none.jsonl cannot be read: there is no such file`,
    });
    expect(existsSync(`${folder.path}/none.html`)).toBe(false);
  });
});

describe('data check', () => {
  it('prints each fault on a line, sums up beside it, and ends with 2; with 0 where nothing is wrong', async () => {
    const file = set('check.jsonl');
    const clean = folder.write('clean.jsonl', '{"question": "What is 6 * 7?", "answer": "42"}\n');
    const [wrong, json, right] = await Promise.all([toolwise('check', file), toolwise('check', file, '--json'), toolwise('check', clean)]);
    expect({ status: wrong.status, lines: wrong.stdout.trimEnd().split('\n') }).toEqual({
      status: 2,
      lines: [`${file}:2: gold: the right answer "\\\\frac{2" cannot be used: its braces do not balance`],
    });
    expect(wrong.output).toContain('2 rows, problems, schema plain: 1 with faults (1 gold)');
    expect(json.status).toBe(2);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      rows: 2,
      rowsWithFaults: 1,
      faults: { gold: 1 },
      first: [{ kind: 'gold' }],
    });
    expect({ status: right.status, stdout: right.stdout }).toEqual({ status: 0, stdout: '' });
  });
});
