/**
 * TensorBoard's event file: records of length, masked CRC-32C, a protobuf `Event`, and its CRC (TensorFlow's `tfrecord` framing and
 * `event.proto`). Scalars and texts only. Does not know runs.
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The first record of every file. @param at milliseconds since 1970 */
export const versionRecord = (at: number): Buffer =>
  record(event(at, 0, (writer) => writer.tag(3, WireType.LengthDelimited).string('brain.Event:2')));

export function scalarRecord(at: number, step: number, values: Readonly<Record<string, number>>): Buffer {
  return summary(
    at,
    step,
    Object.entries(values).map(
      ([tag, value]) =>
        (writer) =>
          writer.tag(1, WireType.LengthDelimited).string(tag).tag(2, WireType.Bit32).float(value),
    ),
  );
}

/** Shown by the text plugin, which reads Markdown. */
export function textRecord(at: number, tag: string, text: string): Buffer {
  return summary(at, 0, [
    (writer) => {
      writer.tag(1, WireType.LengthDelimited).string(tag);
      writer.tag(9, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string('text').join();
      writer.join();
      // a tensor of one string
      writer.tag(8, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int32(7);
      return writer.tag(8, WireType.LengthDelimited).string(text).join();
    },
  ]);
}

type Write = (writer: BinaryWriter) => BinaryWriter;

const summary = (at: number, step: number, values: readonly Write[]): Buffer =>
  record(
    event(at, step, (writer) => {
      writer.tag(5, WireType.LengthDelimited).fork();
      for (const value of values) value(writer.tag(1, WireType.LengthDelimited).fork()).join();
      return writer.join();
    }),
  );

function event(at: number, step: number, body: Write): Uint8Array {
  const writer = new BinaryWriter().tag(1, WireType.Bit64).double(at / 1000);
  return body(writer.tag(2, WireType.Varint).int64(step)).finish();
}

function record(data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(16 + data.length);
  bytes.writeBigUInt64LE(BigInt(data.length), 0);
  bytes.writeUInt32LE(masked(bytes.subarray(0, 8)), 8);
  bytes.set(data, 12);
  bytes.writeUInt32LE(masked(data), 12 + data.length);
  return bytes;
}

/** As TensorFlow stores it, so that a CRC of data which holds CRCs stays strong. */
function masked(data: Uint8Array): number {
  const crc = crc32c(data);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/** CRC-32C (Castagnoli). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
