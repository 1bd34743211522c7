import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { someRecord, someTrajectory } from '../../test/support/someRun.js';
import { factsOf, searchText, searchWords } from './facts.js';

describe('the facts of a rollout', () => {
  it('count calls of all its lines of tokens, and say how the last executed one ended', () => {
    const call = { kind: 'call', name: 'x', arguments: {}, repairs: [] } as const;
    const turn = someTrajectory('t').turns[0]!;
    const executed = (success: boolean) => ({ kind: 'executed', call, success, text: '', seconds: 0 }) as const;
    const first = { ...turn, replies: [executed(true), { kind: 'refused', problem: 'badArguments', text: '' } as const] };
    const second = {
      ...turn,
      segments: [
        { kind: 'malformedCall', raw: '{', problem: '' },
        { kind: 'cutOffCall', raw: '{' },
      ] as const,
      replies: [executed(false)],
    };
    const branch = { promptTokens: [], tokens: [], mask: [], samplerLogProbs: [], turns: [second] };
    const trajectory = { ...someTrajectory('t'), turns: [first], branches: [branch] };
    expect(factsOf({ trajectory })).toMatchObject({ toolSuccesses: 1, toolFailures: 1, malformed: 2, lastToolSucceeded: 0 });
    expect(factsOf({ trajectory: { ...trajectory, turns: [], branches: [] } })).toEqual({
      mode: 'withoutCall',
      toolSuccesses: 0,
      toolFailures: 0,
      malformed: 0,
      lastToolSucceeded: null,
    });
  });

  it('and its words come from question, code, results and answer', () => {
    const words = searchWords(searchText(someRecord(0, 0)).toLowerCase());
    for (const word of ['what', 'print', '6', '42', 'boxed']) expect(words).toContain(word);
  });
});

describe('words', () => {
  let db: Database.Database;
  beforeAll(() => {
    db = new Database(':memory:');
    db.exec(`CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, detail=none, tokenize='ascii')`);
  });
  afterAll(() => db.close());

  const found = (text: string, asked: string): boolean => {
    const { trajectory } = someRecord(0, 0);
    db.exec('DELETE FROM words');
    const turns = [{ ...trajectory.turns[1]!, text, segments: [] }];
    db.prepare('INSERT INTO words (rowid, text) VALUES (1, ?)').run(searchText({ trajectory: { ...trajectory, turns, finalText: '' } }));
    const match = searchWords(asked).map((word) => `"${word}"*`);
    return match.length === 0 || db.prepare('SELECT 1 FROM words WHERE words MATCH ?').get(match.join(' AND ')) !== undefined;
  };

  it.each([
    ['x = math.sqrt(16)', 'sqrt(16'],
    ['Ünïcode façade', 'unicode FACADE'],
    ['naïve in pieces: nai\u0308ve', 'naïve'],
    ['価格は千円です', '千円'],
    ['snake_case_name', 'case_na'],
    ['E=mc² ½ Ⅷ', 'mc² ½'],
    ['नमस्ते दुनिया', 'दुनिया'],
    ['العربية لغة', 'لغة'],
    ['한국어 문장', '한국어'],
    ['İstanbul 𝐀𝚨', 'istanbul aα'],
    ['हिन्दी', 'हिन्'],
    ['a\u0000b\u200bc', 'b'],
  ])('of %j are found by %j', (text, asked) => {
    expect(found(text, asked)).toBe(true);
  });

  it('of any text find that text again', () => {
    for (const unit of ['grapheme', 'binary', 'grapheme-ascii'] as const) {
      fc.assert(
        fc.property(fc.string({ unit, maxLength: 40 }), (text) => found(text, text)),
        { numRuns: 300 },
      );
    }
  });
});
