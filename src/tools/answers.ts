/** Answers by key, as many as there is room for: the ones that were not asked for longest go first. */

export class Answers<T> {
  readonly #entries = new Map<string, { readonly answer: T; readonly size: number }>();
  readonly #mostEntries: number;
  readonly #mostCharacters: number;
  #characters = 0;

  constructor(mostEntries: number, mostCharacters: number) {
    this.#mostEntries = mostEntries;
    this.#mostCharacters = mostCharacters;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.answer;
  }

  /** @param characters of the answer; one that would take all the room is not kept */
  set(key: string, answer: T, characters: number): void {
    this.#remove(key);
    const size = key.length + characters;
    if (size > this.#mostCharacters) return;
    this.#entries.set(key, { answer, size });
    this.#characters += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#mostEntries && this.#characters <= this.#mostCharacters) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#characters -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
