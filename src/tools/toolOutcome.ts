/** What a tool returned or threw, as an outcome. */
import type { ToolOutcome } from './tool.js';

/** A tool in plain JavaScript may return anything. @throws TypeError where it is no text */
export function outcomeOf(result: string | ToolOutcome | null | undefined): ToolOutcome {
  if (typeof result === 'string') return { kind: 'ok', text: result };
  if (result?.kind === 'infra') return result;
  if ((result?.kind === 'ok' || result?.kind === 'error') && typeof result.text === 'string') return result;
  throw new TypeError('the tool returned no text');
}

export const errorOf = (error: unknown): ToolOutcome => ({ kind: 'error', text: `Error: ${messageOf(error)}` });

/** Of whatever was thrown: not all of it is an error, and not all can be made a text. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'the tool failed';
  }
}
