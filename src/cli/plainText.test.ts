import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Narrator } from './narrator.js';
import { plainText } from './plainText.js';

const HOSTILE = 'red \u001b[31m, title \u001b]0;x\u0007, back\r, \u009b2J, turned \u202e';

describe('text of others on a terminal', () => {
  it('keeps its lines and loses what a terminal would obey', () => {
    expect(plainText('one\n\ttwo é 😀')).toBe('one\n\ttwo é 😀');
    expect(plainText(HOSTILE)).toBe('red �[31m, title �]0;x�, back�, �2J, turned �');
  });

  it('is warned of as such', () => {
    const out = new PassThrough();
    new Narrator(out as unknown as NodeJS.WriteStream).log(HOSTILE, 'warning');
    expect(stripVTControlCharacters(String(out.read()))).toBe(`warning: ${plainText(HOSTILE)}\n`);
  });
});
