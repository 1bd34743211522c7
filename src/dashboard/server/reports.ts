/**
 * Reports: pages, tables and notes that lie in a run's folder, or beside runs. Only files that were listed are given, so no name leads
 * elsewhere; whatever is in them, nothing of it runs (see `REPORT_POLICY`).
 */
import { closeSync, createReadStream, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReportLink } from '../api.js';
import type { FoundFile } from './folder.js';
import { Refusal } from './refusal.js';

const KINDS = { html: 'html', md: 'markdown', json: 'json' } as const;
const TYPES: Readonly<Record<ReportLink['kind'], string>> = {
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  markdown: 'text/plain; charset=utf-8',
};
const LARGEST = 64e6;

/** Forbids everything but the page's own look; `sandbox` gives it no origin, no scripts and no forms. */
export const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

/** Directly in a run's folder. */
export function reportFiles(folder: string): FoundFile[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    if (kindOf(name) === undefined) return [];
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? [{ name, path, bytes: found.size }] : [];
  });
}

export function linksOf(files: readonly FoundFile[]): ReportLink[] {
  return files.flatMap((file) => {
    const kind = kindOf(file.name);
    return kind === undefined ? [] : [{ name: file.name, title: titleOf(file, kind), bytes: file.bytes, kind }];
  });
}

/** Data reports: pages outside runs that Toolwise made; other people's JSON and pages are none of ours. */
export const dataReports = (files: readonly FoundFile[]): FoundFile[] =>
  files.filter(({ path, name }) => kindOf(name) === 'html' && isOurs(path));

export function sendReport(files: readonly FoundFile[], name: string): Response {
  const file = files.find((one) => one.name === name);
  const kind = file && kindOf(file.name);
  if (!file || kind === undefined) throw new Refusal(404, `there is no report ${name}`);
  if (file.bytes > LARGEST) throw new Refusal(413, `${name} is too large to be shown (${Math.round(file.bytes / 1e6)} MB)`);
  return new Response(Readable.toWeb(createReadStream(file.path)) as ReadableStream, {
    headers: { 'content-type': TYPES[kind], 'content-security-policy': REPORT_POLICY, 'cache-control': 'no-store' },
  });
}

function kindOf(name: string): ReportLink['kind'] | undefined {
  const end = /\.(html|md|json)$/i.exec(name)?.[1]?.toLowerCase();
  return end === undefined ? undefined : KINDS[end as keyof typeof KINDS];
}

const HEAD_BYTES = 8_192;

function headOf(path: string): string {
  try {
    const handle = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(HEAD_BYTES);
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(handle);
    }
  } catch {
    return '';
  }
}

const isOurs = (path: string): boolean => {
  const head = headOf(path);
  return head.startsWith('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy"');
};

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** Text, not markup: whoever shows it escapes it. */
function titleOf({ path, name }: FoundFile, kind: ReportLink['kind']): string {
  if (kind === 'json') return name;
  const head = headOf(path);
  const found = kind === 'html' ? /<title>([^<]{1,200})<\/title>/i.exec(head)?.[1] : /^#\s+(.{1,200})$/m.exec(head)?.[1];
  return found?.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!).trim() || name;
}
