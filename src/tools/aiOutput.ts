/** The output of an AI SDK tool as the text that a model of text reads: what is no text is told in a few words. */
import type { ToolOutcome } from './tool.js';

/** Of each kind of content part but text, what is read in its place. */
const TOLD: Readonly<Record<string, string>> = {
  media: 'media',
  'file-data': 'file',
  'file-url': 'file at a URL',
  'file-id': 'file',
  'image-data': 'image',
  'image-url': 'image at a URL',
  'image-file-id': 'image',
  custom: 'content of the provider',
};

interface Part {
  readonly type: string;
  readonly text?: unknown;
  readonly mediaType?: unknown;
  readonly filename?: unknown;
}

/** @param output what `toModelOutput` returns. @throws Error where it is of no known kind, or no JSON */
export function textOfOutput(output: unknown): ToolOutcome {
  const { type, value, reason } = (output ?? {}) as { type?: unknown; value?: unknown; reason?: unknown };
  switch (type) {
    case 'text':
      return { kind: 'ok', text: String(value) };
    case 'json':
      return { kind: 'ok', text: json(value) };
    case 'error-text':
      return { kind: 'error', text: String(value) };
    case 'error-json':
      return { kind: 'error', text: json(value) };
    case 'execution-denied':
      return { kind: 'error', text: `Error: this call was denied${typeof reason === 'string' ? `: ${reason}` : '.'}` };
    case 'content':
      return { kind: 'ok', text: (Array.isArray(value) ? (value as Part[]) : []).map(textOfPart).join('\n') };
    default:
      throw new Error('the tool returned an output of an unknown kind');
  }
}

function textOfPart(part: Part): string {
  if (part.type === 'text') return String(part.text);
  const about = [part.mediaType, part.filename].filter((word) => typeof word === 'string' && word !== '').join(', ');
  return `[${TOLD[part.type] ?? 'content'}${about === '' ? '' : ` (${about})`} left out: only text can be read]`;
}

function json(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new Error('the tool returned what is no JSON');
  return text;
}
