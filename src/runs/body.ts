/**
 * One trajectory record as a compact block of bytes, and back without loss: a JSON head for what people read, typed arrays for tokens, mask
 * and log-probs, deflated together at level 1.
 *
 * Layout before deflating, little-endian: version (1 byte), bytes a log-prob (1 byte, 4 or 8), two zero bytes, then four uint32 (bytes of
 * the head, prompt tokens, tokens, log-probs), the head as UTF-8, prompt tokens and tokens as int32, mask as bytes, log-probs as float32
 * where each is exact in it and float64 otherwise. Does not know tables.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { TrajectoryRecord } from '../domain/event.js';

const VERSION = 1;
const HEAD_AT = 20;

/** Fields of a user's problem that JSON cannot carry (functions, for example) are left out. */
export function encodeBody(record: TrajectoryRecord): Buffer {
  const { promptTokens, tokens, mask, samplerLogProbs, ...rest } = record.trajectory;
  const head = Buffer.from(
    JSON.stringify({ ...record, trajectory: rest }, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
  const width = samplerLogProbs.every((x) => Math.fround(x) === x || Number.isNaN(x)) ? 4 : 8;
  const bytes = Buffer.alloc(
    HEAD_AT + head.length + 4 * (promptTokens.length + tokens.length) + mask.length + width * samplerLogProbs.length,
  );
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(width, 1);
  bytes.writeUInt32LE(head.length, 4);
  bytes.writeUInt32LE(promptTokens.length, 8);
  bytes.writeUInt32LE(tokens.length, 12);
  bytes.writeUInt32LE(samplerLogProbs.length, 16);
  let at = HEAD_AT + head.copy(bytes, HEAD_AT);
  for (const token of promptTokens) at = bytes.writeInt32LE(token, at);
  for (const token of tokens) at = bytes.writeInt32LE(token, at);
  for (const bit of mask) at = bytes.writeUInt8(bit, at);
  for (const x of samplerLogProbs) at = width === 4 ? bytes.writeFloatLE(x, at) : bytes.writeDoubleLE(x, at);
  return deflateRawSync(bytes, { level: 1 });
}

/** @throws RangeError where the bytes are of another layout */
export function decodeBody(body: Buffer): TrajectoryRecord {
  const bytes = inflateRawSync(body);
  if (bytes[0] !== VERSION) throw new RangeError(`trajectory of layout ${bytes[0]}; this version reads layout ${VERSION}`);
  const width = bytes.readUInt8(1);
  const headEnd = HEAD_AT + bytes.readUInt32LE(4);
  const head = JSON.parse(bytes.toString('utf8', HEAD_AT, headEnd)) as TrajectoryRecord;
  let at = headEnd;
  const take = (count: number, size: number, read: (offset: number) => number): number[] => {
    const values = Array.from({ length: count }, (_, i) => read(at + i * size));
    at += count * size;
    return values;
  };
  const promptTokens = take(bytes.readUInt32LE(8), 4, (i) => bytes.readInt32LE(i));
  const count = bytes.readUInt32LE(12);
  const tokens = take(count, 4, (i) => bytes.readInt32LE(i));
  const mask = take(count, 1, (i) => bytes.readUInt8(i));
  const samplerLogProbs = take(bytes.readUInt32LE(16), width, (i) => (width === 4 ? bytes.readFloatLE(i) : bytes.readDoubleLE(i)));
  return { ...head, trajectory: { ...head.trajectory, promptTokens, tokens, mask, samplerLogProbs } };
}
