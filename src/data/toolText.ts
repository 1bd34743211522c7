/**
 * Whether a tool's text tells of a failure, where nothing else says it: conversations in files keep what the model read, not how the call
 * ended. A rule of thumb; a tool that reports errors in words of its own is not seen through.
 */

const TRACEBACK = /Traceback \(most recent call last\):/;
/** The last line of a Python or JavaScript error: `ValueError: ...`, `json.decoder.JSONDecodeError: ...`, `KeyboardInterrupt`. */
const ERROR_LINE = /^(?:[A-Za-z_][\w.]*\.)?[A-Z][A-Za-z]*(?:Error|Exception|Interrupt|Exit|Warning)(?::|$)/;
/** How tools open a message of failure. */
const OPENING = /^[[(*<#>\s]{0,3}(?:error|exception|failed|failure|fatal|timed? ?out|time limit exceeded|tool (?:call )?failed)\b/i;
/** How our own code interpreter and others end one. */
const ENDING =
  /The program (?:was stopped:|was ended by signal|ended with exit status)|\bexit(?:ed with)? (?:code|status) [1-9]|timed out after/i;
const WARNING = /Warning(?::|$)/;
/** What is longer is judged by its ends. */
const LOOKED_AT = 4000;

export function tellsFailure(text: string): boolean {
  const start = text.slice(0, LOOKED_AT);
  const end = text.slice(-LOOKED_AT);
  if (TRACEBACK.test(start) || TRACEBACK.test(end)) return true;
  if (OPENING.test(start.trimStart())) return true;
  const last = end.trimEnd().split('\n').at(-1)!.trim();
  if (ERROR_LINE.test(last) && !WARNING.test(last)) return true;
  if (ENDING.test(last)) return true;
  return failedJson(text);
}

/** `{"error": "..."}`, `{"status": "error"}`, `{"success": false}`, `{"returncode": 1}`. */
function failedJson(text: string): boolean {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{') || trimmed.length > 100_000) return false;
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    return false;
  }
  const { error, stderr, status, success, ok, is_error, returncode, return_code, exit_code } = value as Record<string, unknown>;
  if ([returncode, return_code, exit_code].some((code) => typeof code === 'number' && code !== 0)) return true;
  if (success === false || ok === false || is_error === true) return true;
  if (typeof status === 'string' && /^(?:error|failed|failure|timeout)$/i.test(status)) return true;
  if (typeof stderr === 'string' && TRACEBACK.test(stderr)) return true;
  return error !== undefined && error !== null && error !== false && error !== '';
}
