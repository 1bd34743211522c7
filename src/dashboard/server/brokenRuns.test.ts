/** Folders that hold half of a run, an older one, a newer one or something else: shown as far as they go, and left as they are. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { someInfo, someRecord } from '../../../test/support/someRun.js';
import { encodeBody } from '../../runs/body.js';
import { MIGRATIONS, openForWriting } from '../../runs/store.js';
import { RunWriter } from '../../runs/writer.js';
import type { ModesView, ProblemPage, RunDetail, RunSummary, TrajectoryPage, TrajectoryView } from '../api.js';
import { type Asked, Place, play } from './testSupport.js';

let place: Place;
let server: Asked;
beforeEach(() => {
  place = new Place();
  server = place.serve();
});
afterEach(() => place.clean());

const folderOf = (name: string): string => join(place.folder, name);
const fileOf = (name: string): string => join(place.folder, name, 'run.sqlite');
const listed = async (name: string): Promise<RunSummary | undefined> =>
  (await server.json<RunSummary[]>('/api/runs')).find(({ id }) => id === name);

/** Every file with what is in it. */
const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => [file, readFileSync(file).toString('base64')]),
  );

/** A run as the first version wrote it, with rollouts of today. */
function older(name: string, rollouts = 8): void {
  mkdirSync(folderOf(name));
  const db = openForWriting(folderOf(name), MIGRATIONS.slice(0, 1));
  db.prepare(`INSERT INTO meta (key, value) VALUES ('info', ?)`).run(JSON.stringify(someInfo()));
  db.exec(`INSERT INTO stages VALUES ('rl', 1, '2026-01-01', '2026-01-02', 9); INSERT INTO steps VALUES ('rl', 0, '2026-01-02')`);
  for (let i = 0; i < rollouts; i++) {
    const record = someRecord(0, i, 'train', i % 2 === 0);
    const { trajectory } = record;
    const id = db
      .prepare(
        `INSERT INTO trajectories (stage, step, split, trajectoryId, groupId, problemId, verdict, correct, score, reason, reward, advantage,
         stopReason, promptTokens, tokens, modelTokens, turns, calls, seconds) VALUES ('rl', 0, 'train', ?, ?, ?, 'graded', ?, 1, 'match', 1, 0, 'answered', 3, 5, 4, 2, 1, 0.2)`,
      )
      .run(trajectory.trajectoryId, trajectory.groupId, trajectory.problem.id, i % 2 === 0 ? 1 : 0).lastInsertRowid;
    db.prepare('INSERT INTO bodies VALUES (?, ?)').run(id, encodeBody(record));
  }
  db.pragma('journal_mode = DELETE');
  db.close();
}

describe('an older run', () => {
  it('is shown whole, filtered and searched too, and its file is left as it is', async () => {
    older('old');
    const before = contents(folderOf('old'));
    expect(await listed('old')).toMatchObject({
      state: 'ended',
      trajectories: 8,
      note: expect.stringContaining('older version of Toolwise (run format 1'),
    });
    const page = await server.json<TrajectoryPage>('/api/runs/old/trajectories?flags=wrongThoughToolSucceeded');
    expect(page.rows.map(({ id, flags }) => [id, flags])).toEqual(
      [8, 6, 4, 2].map((id) => [id, ['wrongThoughToolSucceeded', 'gradersDisagree']]),
    );
    expect(page.note).toBeUndefined();
    expect((await server.json<TrajectoryPage>('/api/runs/old/trajectories?text=print%20boxed&correct=true')).total).toBe(4);
    expect((await server.json<TrajectoryView>('/api/runs/old/trajectories/4?flags=wrongThoughToolSucceeded')).next).toBe(2);
    expect((await server.json<ProblemPage>('/api/runs/old/problems?text=6')).total).toBe(2);
    expect((await server.json<ModesView>('/api/runs/old/modes')).rows[0]!.modes).toMatchObject([{ mode: 'reactive', rollouts: 8 }]);
    expect((await server.response('/api/runs/old/export/trajectories.csv?text=print')).status).toBe(200);
    expect(contents(folderOf('old'))).toEqual(before);
  });

  it('that is gone on with has old and new rollouts in one list', async () => {
    older('old');
    expect((await server.json<TrajectoryPage>('/api/runs/old/trajectories?text=print')).total).toBe(8);
    const writer = place.keep(RunWriter.resume(folderOf('old')));
    expect((await server.json<TrajectoryPage>('/api/runs/old/trajectories?text=print')).total).toBe(8);
    play(writer, 1, 1);
    expect((await server.json<TrajectoryPage>('/api/runs/old/trajectories?text=print')).total).toBe(13);
    expect((await server.json<TrajectoryPage>('/api/runs/old/trajectories?flags=wrongThoughToolSucceeded')).total).toBe(6);
    expect((await server.json<ProblemPage>('/api/runs/old/problems?text=6')).total).toBe(4);
    expect((await listed('old'))!.note).toBeUndefined();
  });
});

describe('a newer run', () => {
  it('is shown as far as it is known, and what is missing is told', async () => {
    place.run('new');
    const db = new Database(fileOf('new'));
    db.exec(
      `UPDATE meta SET value = '999' WHERE key = 'schemaVersion'; DROP TABLE evaluations; ALTER TABLE notes RENAME COLUMN text TO words`,
    );
    db.close();
    const before = contents(folderOf('new'));
    const summary = await listed('new');
    expect(summary).toMatchObject({ state: 'ended', trajectories: 9, evaluations: [] });
    expect(summary!.note).toContain('newer version of Toolwise (run format 999');
    expect(summary!.note).toContain('Evaluations cannot be read');
    expect(await server.json<RunDetail>('/api/runs/new')).toMatchObject({
      notes: [],
      allEvaluations: [],
      metricNames: { rl: expect.any(Array) },
    });
    expect((await server.json<TrajectoryPage>('/api/runs/new/trajectories?text=print')).total).toBe(9);
    expect(contents(folderOf('new'))).toEqual(before);
  });

  it('whose rollouts are packed in another way lists them, and says what it cannot show', async () => {
    place.run('new');
    const db = new Database(fileOf('new'));
    db.prepare('UPDATE bodies SET body = ? WHERE id = 3').run(Buffer.from('not deflated'));
    db.close();
    expect((await server.json<TrajectoryPage>('/api/runs/new/trajectories')).total).toBe(9);
    expect(await server.error('/api/runs/new/trajectories/3')).toMatchObject({
      status: 422,
      error: expect.stringContaining('rollout 3 cannot be read'),
    });
    expect(await server.error('/api/runs/new/trajectories/3/tokens')).toMatchObject({ status: 422 });
    expect((await server.json<ProblemPage>('/api/runs/new/problems')).total).toBe(3);
  });
});

describe('what is no run', () => {
  it.each([
    [
      'text',
      (file: string) => writeFileSync(file, 'no database, but long enough to be looked at. '.repeat(50)),
      'is not a run of Toolwise',
    ],
    ['nothing', (file: string) => writeFileSync(file, ''), 'is empty'],
    [
      'another program’s database',
      (file: string) => new Database(file).exec('CREATE TABLE meta (key, value)').close(),
      'is not a run of Toolwise',
    ],
  ])('(%s) is listed as unreadable, with why, and left as it is', async (_, write, why) => {
    mkdirSync(folderOf('odd'));
    write(fileOf('odd'));
    place.run('good');
    const before = contents(folderOf('odd'));
    expect(await listed('odd')).toMatchObject({ state: 'unreadable', trajectories: 0, note: expect.stringContaining(why) });
    expect(await listed('good')).toMatchObject({ state: 'ended' });
    expect(await server.json<RunDetail>('/api/runs/odd')).toMatchObject({ state: 'unreadable', note: expect.stringContaining(why) });
    expect(await server.error('/api/runs/odd/trajectories')).toMatchObject({ status: 422, error: expect.stringContaining(why) });
    expect(contents(folderOf('odd'))).toEqual(before);
  });

  it('is a folder of that name, or a link to a file elsewhere', async () => {
    place.run('good');
    mkdirSync(fileOf('folder'), { recursive: true });
    mkdirSync(folderOf('link'));
    symlinkSync(fileOf('good'), fileOf('link'));
    expect((await server.json<RunSummary[]>('/api/runs')).map(({ id }) => id)).toEqual(['good']);
  });
});

describe('a run that another program keeps to itself', () => {
  it('is told as such, holds up no other, and is shown once it is free', async () => {
    place.run('locked');
    place.run('free');
    const other = place.keep(new Database(fileOf('locked')));
    other.exec('BEGIN EXCLUSIVE');
    expect(await listed('locked')).toMatchObject({ state: 'unreadable', note: expect.stringContaining('locked') });
    expect(await listed('free')).toMatchObject({ state: 'ended' });
    expect(await server.error('/api/runs/locked/trajectories')).toMatchObject({ status: 503 });
    other.exec('ROLLBACK');
    expect(await listed('locked')).toMatchObject({ state: 'ended', trajectories: 9 });
  });
});

describe('bytes that are no text', () => {
  it('are shown as far as they are, in notes, names and reports', async () => {
    place.run('bytes');
    const db = new Database(fileOf('bytes'));
    db.exec(
      `INSERT INTO notes (at, level, text) VALUES ('2026', 'info', CAST(x'41ff42c3' AS TEXT)); UPDATE trajectories SET problemId = CAST(x'50fe' AS TEXT)`,
    );
    db.close();
    writeFileSync(join(folderOf('bytes'), 'report.html'), Buffer.from([0x3c, 0x70, 0x3e, 0xff, 0xc3]));
    const detail = await server.json<RunDetail>('/api/runs/bytes');
    expect(detail.notes[0]!.text).toMatch(/^A\ufffdB\ufffd?$/);
    expect((await server.json<TrajectoryPage>('/api/runs/bytes/trajectories')).rows[0]!.problemId).toMatch(/^P\ufffd$/);
    const report = await server.response('/api/runs/bytes/reports/report.html');
    expect([...new Uint8Array(await report.arrayBuffer())]).toEqual([0x3c, 0x70, 0x3e, 0xff, 0xc3]);
  });
});

describe('half of a run', () => {
  it('that never began says so', async () => {
    mkdirSync(folderOf('begun'));
    openForWriting(folderOf('begun')).close();
    expect(await listed('begun')).toMatchObject({ state: 'interrupted', note: expect.stringContaining('never began') });
    expect(await server.json<TrajectoryPage>('/api/runs/begun/trajectories')).toEqual({ rows: [], total: 0 });
  });

  it('whose file was cut off is listed, with what can still be read of it', async () => {
    const writer = place.writer('cut');
    play(writer, 40);
    writer.close();
    truncateSync(fileOf('cut'), Math.floor(statSync(fileOf('cut')).size / 8192) * 4096);
    const summary = await listed('cut');
    expect(summary!.note).toBeTruthy();
    for (const rest of ['', '/metrics', '/trajectories', '/modes', '/problems', '/export/metrics.csv']) {
      const { status } = await server.response(`/api/runs/cut${rest}`);
      expect([200, 422], rest).toContain(status);
    }
  });

  it('with damaged facts about itself is shown without them', async () => {
    place.run('odd');
    const db = new Database(fileOf('odd'));
    db.prepare(`UPDATE meta SET value = '{"recipe": 7, "model": "x"}' WHERE key = 'info'`).run();
    db.close();
    expect(await listed('odd')).toMatchObject({ trajectories: 9, state: 'ended' });
    expect((await server.response('/api/runs/odd')).status).toBe(200);
    expect((await server.response('/api/runs/odd/trajectories/1')).status).toBe(200);
    expect((await server.response('/api/runs/odd/trajectories/1/tokens')).status).toBe(200);
  });
});

describe('a run that is deleted while it is shown', () => {
  it('is gone at the next request, and a new one in its place is another', async () => {
    place.run('one');
    expect((await server.json<TrajectoryPage>('/api/runs/one/trajectories')).total).toBe(9);
    rmSync(folderOf('one'), { recursive: true });
    expect((await server.response('/api/runs/one/trajectories')).status).toBeGreaterThanOrEqual(400);
    expect(await listed('one')).toBeUndefined();
    expect(await server.error('/api/runs/one')).toMatchObject({ status: 404 });
    const writer = place.writer('one');
    play(writer, 1);
    expect((await server.json<TrajectoryPage>('/api/runs/one/trajectories')).total).toBe(5);
  });
});

const WRITER = `
import { RunWriter } from '${new URL('../../runs/writer.ts', import.meta.url).href}';
import { someInfo } from '${new URL('../../../test/support/someRun.ts', import.meta.url).href}';
import { play } from '${new URL('./testSupport.ts', import.meta.url).href}';
const writer = RunWriter.create(process.argv[2], someInfo());
play(writer, 3);
console.log('written');
setInterval(() => {}, 1000);
`;

/** A run whose process was killed: its WAL file holds all of it. */
async function killed(name: string): Promise<void> {
  const script = join(place.folder, 'writer.mts');
  writeFileSync(script, WRITER);
  const child = spawn(process.execPath, ['--import', 'tsx', script, folderOf(name)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  try {
    await once(child.stdout!, 'data');
    expect(await listed(name)).toMatchObject({ state: 'running', trajectories: 13 });
  } finally {
    child.kill('SIGKILL');
    await exit;
    rmSync(script);
  }
}

const canMount = spawnSync('bwrap', ['--ro-bind', '/', '/', '--dev', '/dev', 'true']).status === 0;

describe('a run whose process was killed', () => {
  it('is shown as interrupted with all that was written, and can be gone on with', async () => {
    await killed('dead');
    const before = contents(folderOf('dead'));
    expect(await listed('dead')).toMatchObject({ state: 'interrupted', trajectories: 13 });
    expect((await server.json<TrajectoryPage>('/api/runs/dead/trajectories?text=print')).total).toBe(13);
    const after = contents(folderOf('dead'));
    for (const file of [fileOf('dead'), `${fileOf('dead')}-wal`]) expect(after[file], file).toBe(before[file]);
    const writer = place.keep(RunWriter.resume(folderOf('dead')));
    expect(writer.lastStep('rl')).toBe(2);
  });

  it('and copied without its WAL file is shown as far as it goes, and no file is made beside it', async () => {
    await killed('dead');
    mkdirSync(folderOf('copy'));
    const db = new Database(fileOf('dead'));
    db.pragma('wal_checkpoint(TRUNCATE)');
    cpSync(fileOf('dead'), fileOf('copy'));
    db.close();
    expect(await listed('copy')).toMatchObject({ trajectories: 13 });
    expect(readdirSync(folderOf('copy'))).toEqual(['run.sqlite']);
  });

  it.skipIf(!canMount)('is shown from a disk that cannot be written, with and without the index of its WAL file', async () => {
    await killed('dead');
    cpSync(folderOf('dead'), folderOf('bare'), { recursive: true });
    rmSync(`${fileOf('bare')}-shm`);
    expect(existsSync(`${fileOf('bare')}-wal`)).toBe(true);
    const script = join(place.folder, 'look.mts');
    writeFileSync(
      script,
      `import { dashboard } from '${new URL('./app.ts', import.meta.url).href}';
       const { app, close } = dashboard({ folder: '${place.folder}', assets: '/nowhere' });
       const response = await app.request('http://127.0.0.1/api/runs', { headers: { host: '127.0.0.1' } });
       console.log(JSON.stringify((await response.json()).map(({ id, state, trajectories, note }) => ({ id, state, trajectories, note }))));
       close();`,
    );
    const temporary = join(place.folder, 'tmp');
    mkdirSync(temporary);
    const { stdout, stderr } = spawnSync(
      'bwrap',
      [
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
        '--tmpfs',
        temporary,
        '--setenv',
        'TMPDIR',
        temporary,
        process.execPath,
        '--import',
        'tsx',
        script,
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    const runs = JSON.parse(stdout) as RunSummary[];
    for (const id of ['dead', 'bare']) expect(runs.find((run) => run.id === id)).toEqual({ id, state: 'interrupted', trajectories: 13 });
  });
});

describe('a run that is being written', () => {
  it('ends as one plain file though it was looked at to the end', async () => {
    const writer = place.writer('live');
    for (let step = 0; step < 5; step++) {
      play(writer, 1, step);
      expect((await server.json<TrajectoryPage>('/api/runs/live/trajectories')).total).toBe(5 * (step + 1));
    }
    // the connection of the last look is let go of by itself
    await new Promise((resolve) => setTimeout(resolve, 400));
    writer.close();
    expect(readdirSync(folderOf('live')).filter((name) => name.startsWith('run.sqlite'))).toEqual(['run.sqlite']);
    expect((await listed('live'))!.trajectories).toBe(25);
  });
});
