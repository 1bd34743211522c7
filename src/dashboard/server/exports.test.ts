import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { csvRow } from './exports.js';
import { type Asked, HOSTILE, Place, recordOfTurns } from './testSupport.js';

let place: Place;
let server: Asked;
beforeEach(() => {
  place = new Place();
  server = place.serve();
});
afterEach(() => place.clean());

const text = async (path: string): Promise<string> => {
  const response = await server.response(path);
  expect(response.status).toBe(200);
  return response.text();
};

describe('metrics', () => {
  it('are a row a step; what is unknown is empty, and null in JSON', async () => {
    place.run('one');
    expect(await text('/api/runs/one/export/metrics.csv')).toBe('stage,step,loss/kl,reward/total\r\nrl,0,,0\r\nrl,1,,0.1\r\n');
    expect(
      (await text('/api/runs/one/export/metrics.jsonl'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { stage: 'rl', step: 0, metrics: { 'loss/kl': null, 'reward/total': 0 } },
      { stage: 'rl', step: 1, metrics: { 'loss/kl': null, 'reward/total': 0.1 } },
    ]);
  });

  it('of many steps come whole', async () => {
    const writer = place.writer('long');
    for (let step = 0; step < 450; step++)
      writer.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: { a: step, ...(step > 300 && { b: 1 }) } });
    const rows = parse(await text('/api/runs/long/export/metrics.csv'), { columns: true }) as Record<string, string>[];
    expect(rows.map(({ step }) => Number(step))).toEqual(Array.from({ length: 450 }, (_, i) => i));
    expect(rows[300]).toEqual({ stage: 'rl', step: '300', a: '300', b: '' });
  });
});

describe('rollouts', () => {
  it('are exported as they are filtered and sorted, all of them', async () => {
    place.run('one');
    const rows = parse(await text('/api/runs/one/export/trajectories.csv?correct=true&sort=oldest'), { columns: true }) as Record<
      string,
      string
    >[];
    expect(rows.map(({ id }) => id)).toEqual(['1', '3', '5', '7', '9']);
    expect(rows[0]).toMatchObject({ trajectoryId: 'train/0/0', correct: 'true', reward: '1.1', advantage: '0.5', stopReason: 'answered' });
    const lines = (await text('/api/runs/one/export/trajectories.jsonl?split=train&limit=1&tokens=1')).trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      id: 8,
      turns: 2,
      stopReason: 'answered',
      stop: { kind: 'answered' },
      problem: { question: 'What is 6 · 7?' },
      segmentsOf: [{ text: '<tool_call>…</tool_call>' }, {}],
      promptTokens: [1, 2, 70_000],
      mask: [1, 1, 0, 1, 1],
    });
    expect(JSON.parse((await text('/api/runs/one/export/trajectories.jsonl')).split('\n')[0]!)).not.toHaveProperty('mask');
  });

  it('with any text in them stay one row each, one line each', async () => {
    const writer = place.writer('hostile');
    for (const [i, value] of Object.values(HOSTILE).entries()) {
      writer.sink({ kind: 'trajectory', record: recordOfTurns(0, i, [{ text: value }], { question: value, problemId: value }) });
    }
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const rows = parse(await text('/api/runs/hostile/export/trajectories.csv?sort=oldest'), { columns: true }) as Record<string, string>[];
    const expected = Object.values(HOSTILE).map((value) => (value.startsWith('=') ? `'${value}` : value));
    expect(rows.map(({ problemId }) => problemId)).toEqual(expected);
    const lines = (await text('/api/runs/hostile/export/trajectories.jsonl?sort=oldest')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).finalText)).toEqual(Object.values(HOSTILE));
  });

  it('are made while they are sent, and no further once the receiver has left', async () => {
    const writer = place.writer('large');
    for (let i = 0; i < 60; i++) writer.sink({ kind: 'trajectory', record: recordOfTurns(0, i, [{ text: 'x'.repeat(50_000) }]) });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const response = await server.response('/api/runs/large/export/trajectories.jsonl');
    const reader = response.body!.getReader();
    const first = await reader.read();
    expect(first.value!.length).toBeLessThan(300_000);
    await reader.cancel();
    writer.close();
    place.clean();
  });

  it('carry a file name of letters that no header can be broken by', async () => {
    place.run('odd "name\u00e9');
    const response = await server.response(`/api/runs/${encodeURIComponent('odd "name\u00e9')}/export/metrics.csv`);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="odd_name_-metrics.csv"');
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(await server.error('/api/runs/odd%20%22name%C3%A9/export/secrets.csv')).toMatchObject({ status: 404 });
    expect(await server.error('/api/runs/odd%20%22name%C3%A9/export/constructor')).toMatchObject({ status: 404 });
  });
});

describe('a row of CSV', () => {
  it('quotes what divides, and leaves no formula for a spreadsheet', () => {
    expect(csvRow(['a,b', 'say "x"', 'two\nlines', 1.5, -2, true, null, undefined])).toBe(
      '"a,b","say ""x""","two\nlines",1.5,-2,true,,\r\n',
    );
    for (const start of ['=', '+', '-', '@', '\t', '\r', ' =', '|']) expect(csvRow([`${start}1+1`])).toMatch(/^"?'/);
    expect(csvRow(['a=1', 'rl/3/train'])).toBe('a=1,rl/3/train\r\n');
  });
});
