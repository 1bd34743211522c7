/** A file that is made while it is sent: the next piece is made when the last one has gone, and nothing more once the receiver has left. */

const TYPES: Readonly<Record<string, string>> = { csv: 'text/csv; charset=utf-8', jsonl: 'application/x-ndjson; charset=utf-8' };
/** Characters sent at once. */
const PIECE = 64_000;

/**
 * @param file its kind is its ending
 * @param open gives the lines to `write`, and lets go of what they are read from when that is done
 */
export function streamed(file: string, run: string, open: (write: (lines: Iterable<string>) => Promise<void>) => Promise<void>): Response {
  const encoder = new TextEncoder();
  let left = false;
  let wake: (() => void) | undefined;
  let started = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        wake?.();
        wake = undefined;
        if (started) return;
        started = true;
        const write = async (lines: Iterable<string>): Promise<void> => {
          let piece = '';
          const send = async (): Promise<void> => {
            if (left) return;
            controller.enqueue(encoder.encode(piece));
            piece = '';
            while (!left && (controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => (wake = resolve));
            await new Promise((resolve) => setImmediate(resolve));
          };
          for (const line of lines) {
            piece += line;
            if (piece.length >= PIECE) await send();
            if (left) return;
          }
          if (piece !== '') await send();
        };
        open(write).then(
          () => !left && controller.close(),
          (error) => !left && controller.error(error),
        );
      },
      cancel: () => {
        left = true;
        wake?.();
      },
    },
    { highWaterMark: 1 },
  );
  const name = `${run.replace(/[^\w.-]+/g, '_')}-${file}`;
  return new Response(stream, {
    headers: {
      'content-type': TYPES[file.split('.').at(-1)!] ?? 'application/octet-stream',
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
    },
  });
}
