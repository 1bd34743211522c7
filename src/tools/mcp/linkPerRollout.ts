/** A server of its own for each rollout, shared by the tools of that server, and ended with the rollout. A bounded number lives at once. */

import { Gate } from '../gate.js';
import type { ToolContext } from '../tool.js';
import type { McpLink } from './mcpLink.js';

/** What a tool of the rollout holds. */
export interface RolloutLink {
  readonly link: McpLink;
  readonly leave: () => Promise<void>;
}

interface Place {
  readonly link: Promise<McpLink>;
  users: number;
  /** Ends the server and gives the place to the next. */
  readonly end: () => Promise<void>;
}

type Rollout = Pick<ToolContext, 'signal' | 'trajectoryId'>;

export class LinkPerRollout {
  readonly #open: () => McpLink;
  readonly #gate: Gate;
  readonly #patienceSeconds: number;
  /** By signal and name: a name may come again, and a signal may be shared. */
  readonly #places = new Map<AbortSignal, Map<string, Place>>();
  readonly #living = new Set<McpLink>();

  /** @param patienceSeconds that a rollout waits for a place */
  constructor(open: () => McpLink, places: number, patienceSeconds: number) {
    this.#open = open;
    this.#gate = new Gate(places);
    this.#patienceSeconds = patienceSeconds;
  }

  /** @throws UserError where the server cannot be started; Error where no place becomes free; the signal's reason */
  async enter({ signal, trajectoryId }: Rollout): Promise<RolloutLink> {
    const own = this.#places.get(signal) ?? new Map<string, Place>();
    this.#places.set(signal, own);
    const place = own.get(trajectoryId) ?? this.#begin(signal);
    own.set(trajectoryId, place);
    place.users++;
    const leave = async (): Promise<void> => {
      if (--place.users > 0) return;
      if (own.get(trajectoryId) === place) own.delete(trajectoryId);
      if (own.size === 0) this.#places.delete(signal);
      await place.end();
    };
    try {
      return { link: await place.link, leave };
    } catch (error) {
      await leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#living].map((link) => link.close()));
  }

  #begin(signal: AbortSignal): Place {
    let free: (() => void) | undefined;
    let mine: McpLink | undefined;
    const start = async (): Promise<McpLink> => {
      free = await this.#gate
        .enter(AbortSignal.any([signal, AbortSignal.timeout(this.#patienceSeconds * 1000)]))
        .catch((error: unknown) => {
          signal.throwIfAborted();
          throw new Error(`none of the servers became free within ${this.#patienceSeconds} s (${String(error)}): raise concurrency`);
        });
      mine = this.#open();
      this.#living.add(mine);
      await mine.open();
      return mine;
    };
    const link = start();
    link.catch(() => undefined);
    const end = async (): Promise<void> => {
      await link.catch(() => undefined);
      if (mine) {
        this.#living.delete(mine);
        await mine.close();
      }
      free?.();
    };
    return { link, users: 0, end };
  }
}
