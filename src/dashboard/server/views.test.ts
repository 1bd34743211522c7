import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallSegment } from '../../domain/segment.js';
import type { Reply } from '../../domain/turn.js';
import type {
  GroupPage,
  GroupView,
  ModesView,
  ProblemPage,
  ProblemView,
  RunDetail,
  RunSummary,
  Series,
  TokensView,
  TrajectoryPage,
  TrajectoryView,
} from '../api.js';
import { type Asked, HOSTILE, Place, play, recordOfTurns } from './testSupport.js';

let place: Place;
let server: Asked;
beforeEach(() => {
  place = new Place();
  server = place.serve();
});
afterEach(() => place.clean());

const call: CallSegment = { kind: 'call', name: 'code_interpreter', arguments: { code: 'print(zebra)' }, repairs: [] };
const reply = (success: boolean, text = 'out'): Reply => ({ kind: 'executed', call, success, text, seconds: 0.1 });

/** Four rollouts, one for each thing that is asked about. */
function special(): void {
  const writer = place.writer('special');
  const put = (record: ReturnType<typeof recordOfTurns>): void => writer.sink({ kind: 'trajectory', record });
  const wrong = { kind: 'graded', correct: false, score: 0, reason: 'mismatch' } as const;
  put(
    recordOfTurns(0, 0, [{ segments: [call], replies: [reply(true)] }, { text: 'so 7' }], {
      record: { verdict: wrong, reward: { total: 0.5, parts: { outcome: 0.5 } } },
    }),
  );
  put(
    recordOfTurns(0, 1, [{ segments: [call], replies: [reply(true), reply(false, 'NameError: quagga')] }], {
      record: { verdict: wrong, reward: { total: -1, parts: {} }, advantage: -2.5 },
    }),
  );
  put(recordOfTurns(0, 2, [{ segments: [{ kind: 'malformedCall', raw: '{', problem: 'no' }] }], { record: { advantage: 0 } }));
  const { reward: _, advantage: __, ...lost } = recordOfTurns(0, 3, [{ text: 'Ängström' }]);
  put({ ...lost, verdict: { kind: 'infra', error: 'down' } });
  writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
  writer.close();
}

const idsOf = async (query: string, run = 'special'): Promise<number[]> =>
  (await server.json<TrajectoryPage>(`/api/runs/${run}/trajectories?${query}`)).rows.map(({ id }) => id);

describe('the list of runs', () => {
  it('tells what each run is, how far it is and what it came to', async () => {
    place.run('group/one');
    const writer = place.writer('two');
    play(writer, 1);
    const runs = await server.json<RunSummary[]>('/api/runs');
    expect(runs.map(({ id, name, state }) => [id, name, state])).toEqual(
      expect.arrayContaining([
        ['group/one', 'one', 'ended'],
        ['two', 'two', 'running'],
      ]),
    );
    const one = runs.find(({ id }) => id === 'group/one')!;
    expect(one).toMatchObject({
      recipe: 'nano',
      model: 'nano',
      seed: 1,
      trajectories: 9,
      stages: [{ stage: 'rl', steps: 2, done: 2, seconds: 3 }],
      last: { 'reward/total': 0.1, 'loss/kl': null },
      evaluations: [{ name: 'greedy', step: 2, metrics: { accuracy: 1 } }],
    });
    expect(one.note).toBeUndefined();
  });

  it('follows a run from running to interrupted', async () => {
    const writer = place.writer('two');
    play(writer, 1);
    const state = async (): Promise<string> => (await server.json<RunSummary[]>('/api/runs'))[0]!.state;
    expect(await state()).toBe('running');
    writer.close();
    expect(await state()).toBe('interrupted');
  });

  it('shows the folder itself where it is a run', async () => {
    place.run('.');
    const [run] = await server.json<RunSummary[]>('/api/runs');
    expect(run).toMatchObject({ id: '@', trajectories: 9 });
    expect((await server.json<RunDetail>('/api/runs/%40')).splits).toHaveLength(2);
  });
});

describe('one run', () => {
  it('is told with its recipe, metrics, evaluations, checkpoints, notes and splits', async () => {
    const writer = place.writer('a/b');
    play(writer, 2);
    writer.sink({ kind: 'note', level: 'warning', text: HOSTILE.markup! });
    writer.sink({
      kind: 'checkpoint',
      record: { path: 'checkpoints/x', stage: 'rl', step: 2, policyVersion: 8, optimizer: true, reason: 'best' },
    });
    const detail = await server.json<RunDetail>('/api/runs/a%2Fb');
    expect(detail).toMatchObject({
      versions: { toolwise: '0.1.0' },
      metricNames: { rl: ['loss/kl', 'reward/total'] },
      checkpoints: [{ path: 'checkpoints/x', reason: 'best' }],
      notes: [{ level: 'warning', text: HOSTILE.markup }],
      splits: [
        { stage: 'rl', split: 'greedy', count: 1 },
        { stage: 'rl', split: 'train', count: 8 },
      ],
    });
    expect(detail.recipeText).toContain('name: nano');
    expect(detail.allEvaluations).toHaveLength(1);
  });

  it('that is not there is refused, by every address', async () => {
    for (const rest of ['', '/metrics', '/trajectories', '/trajectories/1', '/modes', '/reports', '/export/metrics.csv']) {
      expect(await server.error(`/api/runs/nowhere${rest}`)).toMatchObject({ status: 404 });
    }
  });
});

describe('metrics', () => {
  it('are series by stage and name; NaN is null', async () => {
    place.run('one');
    const series = await server.json<Series[]>('/api/runs/one/metrics?stage=rl&name=reward/total&name=loss/kl');
    expect(series).toEqual([
      { stage: 'rl', name: 'loss/kl', steps: [0, 1], values: [null, null], count: 2 },
      { stage: 'rl', name: 'reward/total', steps: [0, 1], values: [0, 0.1], count: 2 },
    ]);
    expect(await server.json('/api/runs/one/metrics?name=reward/total&from=1&to=5')).toMatchObject([
      { steps: [1], values: [0.1], count: 1 },
    ]);
    expect(await server.json('/api/runs/one/metrics?name=nothing')).toEqual([]);
    expect(await server.error('/api/runs/one/metrics?stage=later')).toMatchObject({ status: 400 });
  });
});

describe('rollouts', () => {
  it('are listed newest first, in pages, with the number of all', async () => {
    place.run('one');
    const page = await server.json<TrajectoryPage>('/api/runs/one/trajectories?limit=2&offset=1');
    expect(page.total).toBe(9);
    expect(page.rows.map(({ id }) => id)).toEqual([8, 7]);
    expect(page.rows[1]).toMatchObject({ trajectoryId: 'train/1/2', correct: true, reward: 1.1, advantage: 0.5, calls: 1, flags: [] });
    expect(page.note).toBeUndefined();
  });

  it.each([
    ['flags=wrongThoughToolSucceeded', [1]],
    ['flags=malformed', [3]],
    ['flags=toolFailed', [2]],
    ['flags=infra', [4]],
    ['flags=noCall', [4, 3]],
    ['flags=gradersDisagree', [1]],
    ['flags=extremeAdvantage', [2]],
    ['flags=noCall,malformed', [3]],
    ['flags=noCall&flags=infra', [4]],
    ['correct=false', [2, 1]],
    ['sort=reward', [2, 1, 3, 4]],
    ['sort=-advantage', [1, 3, 2, 4]],
    ['sort=calls', [2, 1, 4, 3]],
    ['fromStep=1', []],
    ['stopReason=deadline', []],
  ])('are found by %s', async (query, ids) => {
    special();
    expect(await idsOf(query)).toEqual(ids);
  });

  it.each([
    ['zebra', [2, 1]],
    ['ZEB', [2, 1]],
    ['quagga zebra', [2]],
    ['quagga NameError:', [2]],
    ['"zebra" AND NOT (quagga*', []],
    ['zebra)', [2, 1]],
    ['NEAR("zebra" "print", 2)', []],
    ['angstrom', [4]],
    ['so 7', [1]],
    ['text:zebra', []],
    ['---', []],
  ])('are found by words: %s', async (text, ids) => {
    special();
    expect(await idsOf(`text=${encodeURIComponent(text)}`)).toEqual(ids);
  });

  it('of scripts without spaces are found by a part of a sentence', async () => {
    const writer = place.writer('special');
    writer.sink({ kind: 'trajectory', record: recordOfTurns(0, 0, [{ text: '東京は日本の首都です。' }]) });
    writer.sink({ kind: 'trajectory', record: recordOfTurns(0, 1, [{ text: 'e\u0301tude हिन्दी' }]) });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    expect(await idsOf('text=首都')).toEqual([1]);
    expect(await idsOf('text=大阪')).toEqual([]);
    expect(await idsOf('text=étu')).toEqual([2]);
    expect(await idsOf(`text=${encodeURIComponent('हिन्दी')}`)).toEqual([2]);
  });

  it('that were lost are told of, though nothing of them is stored', async () => {
    const writer = place.writer('lossy');
    for (const step of [0, 1]) writer.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: { 'rollout/lost': step + 1 } });
    const page = await server.json<TrajectoryPage>('/api/runs/lossy/trajectories?flags=infra');
    expect(page).toMatchObject({ rows: [], total: 0, note: expect.stringContaining('3 more were lost') });
    expect((await server.json<TrajectoryPage>('/api/runs/lossy/trajectories?flags=infra&step=0')).note).toContain('1 more were lost');
    expect((await server.json<TrajectoryPage>('/api/runs/lossy/trajectories?flags=malformed')).note).toBeUndefined();
  });

  it('refuse what they are not asked by', async () => {
    special();
    for (const query of ['flags=odd', 'sort=name', 'limit=-1', 'step=x', 'correct=maybe', 'stopReason=bored']) {
      expect(await server.error(`/api/runs/special/trajectories?${query}`)).toMatchObject({ status: 400 });
    }
  });
});

describe('one rollout', () => {
  it('is told whole, with its neighbours in the order of the list', async () => {
    place.run('one');
    const view = await server.json<TrajectoryView>('/api/runs/one/trajectories/4?split=train&correct=false');
    expect(view).toMatchObject({
      id: 4,
      question: 'What is 6 · 7?',
      answer: '42',
      problem: { tags: { family: 'product', level: 1 } },
      finalText: '\\boxed{42}',
      stop: { kind: 'answered' },
      verdict: { kind: 'graded', reason: 'mismatch' },
      rewardParts: { outcome: 1, tool: 0.1 },
      cut: [],
      previous: 6,
      next: 2,
    });
    expect(view.segmentsOf).toHaveLength(2);
    expect(view.system).toBe('');
    expect(await server.error('/api/runs/one/trajectories/99')).toMatchObject({ status: 404 });
    expect(await server.error('/api/runs/one/trajectories/x')).toMatchObject({ status: 404 });
  });

  it.each(['newest', 'oldest', 'longest', 'reward', '-reward', 'advantage', '-advantage', 'calls', 'shortest'])(
    'has the neighbours that it has in the list sorted by %s',
    async (sort) => {
      special();
      const ids = await idsOf(`sort=${sort}`);
      for (const [i, id] of ids.entries()) {
        const { previous, next } = await server.json<TrajectoryView>(`/api/runs/special/trajectories/${id}?sort=${sort}`);
        expect([previous, next]).toEqual([ids[i - 1], ids[i + 1]]);
      }
    },
  );

  it('comes through as it was, whatever is in it', async () => {
    const writer = place.writer('hostile');
    const texts = Object.entries(HOSTILE);
    for (const [i, [name, text]] of texts.entries()) {
      const record = recordOfTurns(0, i, [{ text, replies: [reply(true, text)] }], { question: text, problemId: name });
      writer.sink({ kind: 'trajectory', record });
    }
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    for (const [i, [name, text]] of texts.entries()) {
      const response = await server.response(`/api/runs/hostile/trajectories/${i + 1}?whole=1`);
      expect(response.headers.get('content-type')).toContain('application/json');
      const view = (await response.json()) as TrajectoryView;
      expect([view.problemId, view.question, view.finalText, view.segmentsOf[0]!.replies[0]!.text]).toEqual([name, text, text, text]);
      expect(view.cut).toEqual([]);
    }
  });

  it('has its long texts cut, and says which, unless it is asked for whole', async () => {
    const writer = place.writer('long');
    writer.sink({
      kind: 'trajectory',
      record: recordOfTurns(0, 0, [{ text: HOSTILE.lines!, replies: [reply(true, 'y'.repeat(30_000))] }]),
    });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const view = await server.json<TrajectoryView>('/api/runs/long/trajectories/1');
    expect(view.segmentsOf[0]!.text).toBe('x'.repeat(20_000));
    expect(view.cut).toContainEqual({ what: 'segmentsOf.0.text', length: 1_500_000 });
    expect(view.cut).toContainEqual({ what: 'segmentsOf.0.replies.0.text', length: 30_000 });
    const whole = await server.json<TrajectoryView>('/api/runs/long/trajectories/1?whole=1');
    expect(whole.segmentsOf[0]!.text).toHaveLength(1_500_000);
  });

  it('has halves of characters made visible by the reader, not broken', async () => {
    const writer = place.writer('halves');
    writer.sink({ kind: 'trajectory', record: recordOfTurns(0, 0, [{ text: 'a\ud800b' }]) });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const view = await server.json<TrajectoryView>('/api/runs/halves/trajectories/1');
    expect(view.finalText).toMatch(/^a[\ud800\ufffd]b$/);
  });

  it('has its tokens, with a note where their texts are not to be had', async () => {
    place.run('one');
    const tokens = await server.json<TokensView>('/api/runs/one/trajectories/1/tokens');
    expect(tokens).toMatchObject({
      prompt: { ids: [1, 2, 70_000] },
      response: { ids: [5, 6, 7, 8, 9], mask: [1, 1, 0, 1, 1], logProbs: [-0.1, -1e-9, 0, -12.345678901234, null] },
      advantage: 0.5,
    });
    expect(tokens.prompt.texts).toBeUndefined();
    expect(tokens.note).toContain('no texts');
  });

  it('of several lines of tokens is told with all of them', async () => {
    const writer = place.writer('lines');
    const base = recordOfTurns(0, 0, [{ text: 'first' }]);
    const branch = {
      promptTokens: [9],
      tokens: [8],
      mask: [1],
      samplerLogProbs: [-0.5],
      turns: [{ text: 'second', segments: [{ kind: 'text', text: 'second' }], stop: 'stop', tokens: 1, policyVersion: 1, replies: [] }],
    } as const;
    const ratios = { ratios: [1, 1.25, 1, 1, 1], branchRatios: [[0.5]] };
    writer.sink({ kind: 'trajectory', record: { ...base, ...ratios, trajectory: { ...base.trajectory, branches: [branch] } } });
    writer.sink({ kind: 'stepEnded', stage: 'rl', step: 0, metrics: {} });
    const view = await server.json<TrajectoryView>('/api/runs/lines/trajectories/1');
    expect([view.turns, view.branches?.[0]?.turns[0]?.text]).toEqual([2, 'second']);
    const tokens = await server.json<TokensView>('/api/runs/lines/trajectories/1/tokens');
    expect(tokens.response.ratios).toEqual([1, 1.25, 1, 1, 1]);
    expect(tokens.branches).toMatchObject([{ prompt: { ids: [9] }, response: { ids: [8], ratios: [0.5] } }]);
  });
});

describe('groups and problems', () => {
  it('show all rollouts of one occurrence of a problem', async () => {
    place.run('one');
    const group = await server.json<GroupView>('/api/runs/one/groups?id=train/1/0&stage=rl&step=1');
    expect(group).toMatchObject({ groupId: 'train/1/0', question: 'What is 6 · 7?', answer: '42' });
    expect(group.members.map(({ id, correct }) => [id, correct])).toEqual([
      [5, true],
      [6, false],
      [7, true],
      [8, false],
    ]);
    expect(group.members[0]).toMatchObject({ rewardParts: { outcome: 1, tool: 0.1 }, text: '<tool_call>…</tool_call>\n42\n\\boxed{42}' });
    expect(await server.error('/api/runs/one/groups?id=other')).toMatchObject({ status: 404 });
  });

  it('are listed by what their rewards and answers say', async () => {
    special();
    place.run('one');
    const list = (query: string, run = 'special'): Promise<GroupPage> => server.json(`/api/runs/${run}/groups?${query}`);
    expect(await list('')).toEqual({
      groups: [
        {
          groupId: 'train/0/0',
          stage: 'rl',
          step: 0,
          split: 'train',
          problemId: 'p',
          rollouts: 4,
          right: 1,
          reward: expect.closeTo(0.2, 10),
          low: -1,
          high: 1.1,
          calls: 0.75,
        },
      ],
      total: 1,
    });
    for (const [kind, total] of [
      ['mixed', 1],
      ['equal', 0],
      ['allWrong', 0],
    ] as const)
      expect((await list(`kind=${kind}`)).total).toBe(total);
    const sorted = async (sort: string): Promise<string[]> =>
      (await list(`split=train&sort=${sort}`, 'one')).groups.map(({ groupId }) => groupId);
    expect(await sorted('newest')).toEqual(['train/1/0', 'train/0/0']);
    expect(await sorted('oldest')).toEqual(['train/0/0', 'train/1/0']);
    expect((await list('kind=equal&limit=1&offset=1', 'one')).groups).toHaveLength(1);
    expect((await list('kind=allRight', 'one')).groups.map(({ split }) => split)).toEqual(['greedy']);
    expect((await list('fromStep=1&toStep=1&problemId=none', 'one')).groups).toEqual([]);
    expect(await server.error('/api/runs/one/groups?kind=odd')).toMatchObject({ status: 400 });
  });

  it('show which problems changed most between the first and the last third of their meetings', async () => {
    const writer = place.writer('change');
    const verdict = (correct: boolean) => ({ kind: 'graded', correct, score: correct ? 1 : 0, reason: 'match' }) as const;
    for (let step = 0; step < 6; step++) {
      for (const [i, [problemId, right]] of (
        [
          ['learnt', step >= 3],
          ['known', true],
          ['lost', step < 5],
        ] as const
      ).entries()) {
        const record = recordOfTurns(step, i * 4, [{ text: 'x' }], { problemId, record: { verdict: verdict(right) } });
        writer.sink({ kind: 'trajectory', record });
      }
      writer.sink({ kind: 'stepEnded', stage: 'rl', step, metrics: {} });
    }
    const page = await server.json<ProblemPage>('/api/runs/change/problems?sort=changed&split=train');
    expect(page.problems.map(({ problemId, early, late }) => [problemId, early, late])).toEqual([
      ['learnt', 0, 1],
      ['lost', 1, 0.5],
      ['known', 1, 1],
    ]);
    expect((await server.json<ProblemPage>('/api/runs/change/problems?sort=hardest&limit=1')).problems[0]).toMatchObject({
      early: 0,
      late: 1,
    });
  });

  it('show how a problem fared over the run', async () => {
    place.run('one');
    const page = await server.json<ProblemPage>('/api/runs/one/problems?split=train&sort=newest');
    expect(page.total).toBe(2);
    expect(page.problems[0]).toEqual({
      problemId: 'problem of train/1/0',
      question: 'What is 6 · 7?',
      rollouts: 4,
      right: 2,
      firstStep: 1,
      lastStep: 1,
    });
    expect(page.problems[0]).not.toHaveProperty('early');
    expect((await server.json<ProblemPage>('/api/runs/one/problems?text=WHAT%20train/0')).total).toBe(1);
    expect((await server.json<ProblemPage>('/api/runs/one/problems?text=%25')).total).toBe(0);
    const problem = await server.json<ProblemView>(`/api/runs/one/problem?id=${encodeURIComponent('problem of train/1/0')}`);
    expect(problem.meetings).toEqual([{ stage: 'rl', step: 1, split: 'train', groupId: 'train/1/0', rollouts: 4, right: 2 }]);
    expect(await server.error('/api/runs/one/problem?id=none')).toMatchObject({ status: 404 });
  });

  it('compare deliberative and reactive rollouts at each moment', async () => {
    special();
    const { rows } = await server.json<ModesView>('/api/runs/special/modes');
    expect(rows).toMatchObject([{ stage: 'rl', step: 0, split: 'train' }]);
    expect(rows[0]!.modes).toEqual(
      expect.arrayContaining([
        { mode: 'reactive', rollouts: 2, right: 0, toolSuccess: 2 / 3, callsPerRollout: 1.5, tokensPerTurn: expect.any(Number) },
        { mode: 'withoutCall', rollouts: 2, right: 1, toolSuccess: null, callsPerRollout: 0, tokensPerTurn: expect.any(Number) },
      ]),
    );
  });
});
