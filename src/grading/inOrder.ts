/** Works on items several at a time and gives the outcomes in the items' order. */

/**
 * At most `limit` items are worked on or wait for an earlier one, so that a slow item holds back reading, and memory stays bounded.
 * An error of the source or of the work ends it, after what is running has ended.
 */
export async function* inOrder<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, void> {
  const running: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const outcome = work(item);
      // It is awaited below, perhaps after an earlier one has thrown.
      outcome.catch(() => undefined);
      running.push(outcome);
      if (running.length >= limit) yield await running.shift()!;
    }
    while (running.length > 0) yield await running.shift()!;
  } finally {
    await Promise.allSettled(running);
  }
}
