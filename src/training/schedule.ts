/** Learning rate by update: a linear warm-up, then constant, linear or cosine decay to a floor. */
import type { Schedule } from '../recipe/schema.js';

/**
 * @param update 0-based
 * @param updates how many there will be
 * @returns factor of the peak rate, in [0, 1]. The first update of a warm-up is above 0, the last update of a decay is above the floor.
 */
export function scheduleFactor(schedule: Schedule, update: number, updates: number): number {
  const warmup = Math.round(schedule.warmup * updates);
  const rise = warmup === 0 ? 1 : Math.min(1, (update + 1) / warmup);
  const rest = Math.max(1, updates - warmup);
  const progress = Math.min(1, Math.max(0, update - warmup) / rest);
  const decay = schedule.kind === 'constant' ? 1 : schedule.kind === 'linear' ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return rise * (schedule.floor + (1 - schedule.floor) * decay);
}
