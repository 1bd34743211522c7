import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findProgram } from './findProgram.js';

const program = 'n = int(input())\nprint(n)';

describe('the program in a response', () => {
  it.each([
    ['a labelled fence', `Here:\n\`\`\`python\n${program}\n\`\`\`\nDone.`],
    ['py', `\`\`\`py\n${program}\n\`\`\``],
    ['python3', `\`\`\`python3\n${program}\n\`\`\``],
    ['capitals', `\`\`\`Python\n${program}\n\`\`\``],
    ['a label with attributes', `\`\`\`python title="a.py"\n${program}\n\`\`\``],
    ['a label in braces', `\`\`\`{.python}\n${program}\n\`\`\``],
    ['a space before the label', `\`\`\` python\n${program}\n\`\`\``],
    ['no label', `Here:\n\`\`\`\n${program}\n\`\`\``],
    ['tildes', `~~~python\n${program}\n~~~`],
    ['four backticks', `\`\`\`\`python\n${program}\n\`\`\`\``],
    ['no end', `Here:\n\`\`\`python\n${program}`],
    ['fences doubled', `\`\`\`python\n\`\`\`python\n${program}\n\`\`\`\n\`\`\``],
    ['an unlabelled fence around a labelled one', `\`\`\`\n\`\`\`python\n${program}\n\`\`\`\n\`\`\``],
    ['bare fences doubled', `\`\`\`\n\`\`\`\n${program}\n\`\`\`\n\`\`\``],
    ['an end on the last line of code', `\`\`\`python\n${program}\`\`\``],
    ['a fence behind text', `The program: \`\`\`python\n${program}\n\`\`\``],
    ['a fence in a list', `1. Code\n   \`\`\`python\n   n = int(input())\n   print(n)\n   \`\`\``],
    ['Windows line ends', `\`\`\`python\r\n${program.replaceAll('\n', '\r\n')}\r\n\`\`\`\r\n`],
    ['no fence at all', program],
    ['the last of several', `\`\`\`python\nraise\n\`\`\`\nBetter:\n\`\`\`python\n${program}\n\`\`\``],
    ['a block that the next one interrupts', `\`\`\`python\nraise\n\`\`\`python\n${program}\n\`\`\``],
    ['a Python block before an unlabelled one', `\`\`\`python\n${program}\n\`\`\`\nOutput:\n\`\`\`\n5\n\`\`\``],
    ['a Python block before one in another language', `\`\`\`python\n${program}\n\`\`\`\n\`\`\`cpp\nint main() {}\n\`\`\``],
    ['a Python block before an empty one', `\`\`\`python\n${program}\n\`\`\`\n\`\`\`python\n\`\`\``],
    ['a block after closed thinking', `<think>\n\`\`\`python\nraise\n\`\`\`\n</think>\n\`\`\`python\n${program}\n\`\`\``],
  ])('is found behind %s', (_, response) => {
    expect(findProgram(response)?.trimEnd()).toBe(program);
  });

  it.each([
    ['nothing', ''],
    ['prose', 'I do not know how to solve this problem.'],
    ['prose with a call in it', 'First we call print(n).\nThen we are done = finished.'],
    ['another language only', '```cpp\nint main() {}\n```'],
    ['an empty block', '```python\n\n```'],
    ['thinking that never ends', `<think>\n\`\`\`python\n${program}\n\`\`\``],
    ['a program in thinking only', `<think>\n\`\`\`python\n${program}\n\`\`\`\n</think>\nI am not sure.`],
  ])('is not found in %s', (_, response) => {
    expect(findProgram(response)).toBeUndefined();
  });

  it('keeps backticks and tildes within the code', () => {
    const code = 'print("```")\nx = ~~~5\ns = """\n~~~\n"""';
    expect(findProgram(`\`\`\`python\n${code}\n\`\`\``)).toBe(code);
  });

  it('reads a program on one line', () => {
    expect(findProgram('Use ```python print(1)```.')).toBe('print(1)');
  });

  it('is what was fenced, for any program', () => {
    const code = fc.string().map((text) => `x = 1\n${text.replace(/[`~\r]/g, '')}`);
    fc.assert(fc.property(code, (text) => void expect(findProgram(`a\n\`\`\`python\n${text}\n\`\`\`\nb`)).toBe(text)));
  });

  it('never throws, and is found in bounded time', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('`', '~', '\n', ' ', 'python', 'x', '>') }), (text) => void findProgram(text)));
    for (const unit of ['`', '```\n', '```python\n', 'a ```', ' '.repeat(50), '~~~ x\n', 'for x in ', 'a(', '```py a'])
      findProgram(unit.repeat(1_000_000 / unit.length));
  });
});
