/**
 * Reads the one text in a pickle. Knows only the opcodes that write a text and refuses every other: nothing is ever built or called.
 * Protocols 0 to 5.
 */

export type PickleResult = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };

/** Opcode names as in Python's pickletools. */
const STOP = 0x2e;
const PROTO = 0x80;
const FRAME = 0x95;
const MEMOIZE = 0x94;
const BINPUT = 0x71;
const LONG_BINPUT = 0x72;
const PUT = 0x70;
const UNICODE = 0x56;
const BINUNICODE = 0x58;
const SHORT_BINUNICODE = 0x8c;
const BINUNICODE8 = 0x8d;

export function readPickledText(bytes: Buffer): PickleResult {
  let at = 0;
  let text: string | undefined;
  const fail = (what: string): PickleResult => ({ ok: false, error: `${what} at byte ${at}` });
  while (at < bytes.length) {
    const opcode = bytes[at]!;
    if (opcode === STOP) return text === undefined ? fail('no text before the end') : { ok: true, text };
    const argument = at + 1;
    const fixed = { [PROTO]: 1, [FRAME]: 8, [MEMOIZE]: 0, [BINPUT]: 1, [LONG_BINPUT]: 4 }[opcode];
    if (fixed !== undefined) {
      at = argument + fixed;
      continue;
    }
    if (opcode === PUT || opcode === UNICODE) {
      const end = bytes.indexOf(0x0a, argument);
      if (end === -1) return fail('a line without an end');
      if (opcode === UNICODE) {
        if (text !== undefined) return fail('a second text');
        text = rawUnicodeEscape(bytes.toString('latin1', argument, end));
      }
      at = end + 1;
      continue;
    }
    const width = { [BINUNICODE]: 4, [SHORT_BINUNICODE]: 1, [BINUNICODE8]: 8 }[opcode];
    if (width === undefined) return fail(`opcode 0x${opcode.toString(16)} is not allowed`);
    if (argument + width > bytes.length) return fail('the pickle ends early');
    if (text !== undefined) return fail('a second text');
    const length = width === 8 ? Number(bytes.readBigUInt64LE(argument)) : bytes.readUIntLE(argument, width);
    const start = argument + width;
    if (start + length > bytes.length) return fail('the pickle ends early');
    text = bytes.toString('utf8', start, start + length);
    at = start + length;
  }
  return fail('the pickle ends early');
}

/** Protocol 0 writes latin-1 with \u and \U escapes. */
function rawUnicodeEscape(line: string): string {
  return line.replace(/\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})/g, (whole, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long ?? '', 16);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}
