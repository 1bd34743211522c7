/**
 * One trajectory record as a compact block of bytes, and back without loss: a JSON head for what people read, typed arrays for tokens, mask
 * and log-probs, deflated together at level 1.
 *
 * Layout before deflating, little-endian: version (1 byte), bytes a log-prob (1 byte, 4 or 8), what follows at the end (1 byte: 1 ratios,
 * 2 branches), a zero byte, then four uint32 (bytes of the head, prompt tokens, tokens, log-probs), the head as UTF-8, prompt tokens and
 * tokens as int32, mask as bytes, log-probs as float32 where each is exact in it and float64 otherwise. Then, where they are there, the
 * ratios of the model's tokens as float32; then the number of branches (uint32) and of each the bytes a log-prob and three counts (uint32),
 * its arrays as above and, where there are ratios, its own. A reader that does not know them stops before. Does not know tables.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { TrajectoryRecord } from '../domain/event.js';
import { type Branch, modelTokens } from '../domain/trajectory.js';

const VERSION = 1;
const HEAD_AT = 20;
/** Bytes of a record that is still read: a few bytes may claim to be gigabytes. */
const LARGEST = 1e9;
const RATIOS = 1;
const BRANCHES = 2;
/** Bytes before the arrays of a further branch. */
const BRANCH_HEAD = 16;

type Lines = Pick<Branch, 'promptTokens' | 'tokens' | 'mask' | 'samplerLogProbs'>;

/** Fields of a user's problem that JSON cannot carry (functions, for example) are left out. */
export function encodeBody(record: TrajectoryRecord): Buffer {
  const { ratios, branchRatios, ...told } = record;
  const { promptTokens, tokens, mask, samplerLogProbs, branches, ...rest } = record.trajectory;
  const own = { promptTokens, tokens, mask, samplerLogProbs };
  const further = branches?.map(({ turns }) => ({ turns }));
  const trajectory = { ...rest, ...(further && { branches: further }) };
  const head = Buffer.from(JSON.stringify({ ...told, trajectory }, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
  const ratioBytes = (line: Lines): number => (ratios ? 4 * modelTokens(line) : 0);
  const tail = branches ? branches.reduce((sum, line) => sum + BRANCH_HEAD + sizeOf(line) + ratioBytes(line), 4) : 0;
  const bytes = Buffer.alloc(HEAD_AT + head.length + sizeOf(own) + ratioBytes(own) + tail);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(widthOf(own), 1);
  bytes.writeUInt8((ratios ? RATIOS : 0) | (branches ? BRANCHES : 0), 2);
  bytes.writeUInt32LE(head.length, 4);
  bytes.writeUInt32LE(promptTokens.length, 8);
  bytes.writeUInt32LE(tokens.length, 12);
  bytes.writeUInt32LE(samplerLogProbs.length, 16);
  let at = putLines(bytes, HEAD_AT + head.copy(bytes, HEAD_AT), own);
  if (ratios) at = putRatios(bytes, at, own, ratios);
  if (branches) at = bytes.writeUInt32LE(branches.length, at);
  for (const [i, line] of (branches ?? []).entries()) {
    for (const value of [widthOf(line), line.promptTokens.length, line.tokens.length, line.samplerLogProbs.length])
      at = bytes.writeUInt32LE(value, at);
    at = putLines(bytes, at, line);
    if (ratios) at = putRatios(bytes, at, line, branchRatios?.[i] ?? []);
  }
  return deflateRawSync(bytes, { level: 1 });
}

/** @throws RangeError where the bytes are of another layout, or too many */
export function decodeBody(body: Buffer, largest = LARGEST): TrajectoryRecord {
  const bytes = inflateRawSync(body, { maxOutputLength: largest });
  if (bytes[0] !== VERSION) throw new RangeError(`trajectory of layout ${bytes[0]}; this version reads layout ${VERSION}`);
  const extras = bytes.readUInt8(2);
  const headEnd = HEAD_AT + bytes.readUInt32LE(4);
  const head = JSON.parse(bytes.toString('utf8', HEAD_AT, headEnd)) as TrajectoryRecord;
  let at = headEnd;
  const take = (count: number, size: number, read: (offset: number) => number): number[] => {
    const values = Array.from({ length: count }, (_, i) => read(at + i * size));
    at += count * size;
    return values;
  };
  const takeLines = (width: number, counts: readonly [prompt: number, tokens: number, logProbs: number]): Lines => ({
    promptTokens: take(counts[0], 4, (i) => bytes.readInt32LE(i)),
    tokens: take(counts[1], 4, (i) => bytes.readInt32LE(i)),
    mask: take(counts[1], 1, (i) => bytes.readUInt8(i)),
    samplerLogProbs: take(counts[2], width, (i) => (width === 4 ? bytes.readFloatLE(i) : bytes.readDoubleLE(i))),
  });
  const takeRatios = ({ mask }: Lines): number[] => mask.map((bit) => (bit === 1 ? take(1, 4, (i) => bytes.readFloatLE(i))[0]! : 1));

  const own = takeLines(bytes.readUInt8(1), [bytes.readUInt32LE(8), bytes.readUInt32LE(12), bytes.readUInt32LE(16)]);
  const record = { ...head, trajectory: { ...head.trajectory, ...own }, ...((extras & RATIOS) !== 0 && { ratios: takeRatios(own) }) };
  if ((extras & BRANCHES) === 0) return record;
  const branches: Branch[] = [];
  const branchRatios: number[][] = [];
  const [count] = take(1, 4, (i) => bytes.readUInt32LE(i));
  for (let n = 0; n < count!; n++) {
    const [width, prompt, tokens, logProbs] = take(BRANCH_HEAD / 4, 4, (i) => bytes.readUInt32LE(i));
    const line = takeLines(width!, [prompt!, tokens!, logProbs!]);
    branches.push({ ...line, turns: head.trajectory.branches![n]!.turns });
    if ((extras & RATIOS) !== 0) branchRatios.push(takeRatios(line));
  }
  return { ...record, trajectory: { ...record.trajectory, branches }, ...((extras & RATIOS) !== 0 && { branchRatios }) };
}

const widthOf = ({ samplerLogProbs }: Lines): 4 | 8 => (samplerLogProbs.every((x) => Math.fround(x) === x || Number.isNaN(x)) ? 4 : 8);

const sizeOf = (line: Lines): number =>
  4 * (line.promptTokens.length + line.tokens.length) + line.mask.length + widthOf(line) * line.samplerLogProbs.length;

/** @returns where the next bytes go, as the others below */
function putLines(bytes: Buffer, from: number, line: Lines): number {
  const width = widthOf(line);
  let at = from;
  for (const token of line.promptTokens) at = bytes.writeInt32LE(token, at);
  for (const token of line.tokens) at = bytes.writeInt32LE(token, at);
  for (const bit of line.mask) at = bytes.writeUInt8(bit, at);
  for (const x of line.samplerLogProbs) at = width === 4 ? bytes.writeFloatLE(x, at) : bytes.writeDoubleLE(x, at);
  return at;
}

function putRatios(bytes: Buffer, from: number, { mask }: Lines, ratios: readonly number[]): number {
  let at = from;
  for (const [t, bit] of mask.entries()) if (bit === 1) at = bytes.writeFloatLE(ratios[t] ?? 1, at);
  return at;
}
