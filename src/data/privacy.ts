/**
 * What should not be in a set that is passed on: keys, e-mail addresses, and on request telephone numbers. Finds and masks; removes nothing.
 *
 * Goes by shapes that hardly occur otherwise, so that program text and mathematics stay quiet: `a@b.T` is a matrix product, `task-force` no
 * key. A key of an unknown shape is not found.
 */

export type PrivateKind = 'email' | 'key' | 'token' | 'privateKey' | 'password' | 'phone';

export interface PrivateFind {
  readonly kind: PrivateKind;
  /** The find with its secret part masked; fit for a report. */
  readonly excerpt: string;
  /** Where it begins, in UTF-16 units. */
  readonly index: number;
  /** Its length, in UTF-16 units. */
  readonly length: number;
}

export interface PrivacyOptions {
  /** International telephone numbers too. They look like other numbers; off by default. */
  readonly phones?: boolean;
}

interface Shape {
  readonly kind: PrivateKind;
  /** One of these is in any text that it matches: looking for them first is what makes long texts cheap. */
  readonly marks: readonly string[];
  readonly pattern: RegExp;
  readonly also?: (match: string) => boolean;
}

const mixed = (text: string): boolean => /\d/.test(text) && /[A-Za-z]/.test(text);

const SHAPES: readonly Shape[] = [
  { kind: 'key', marks: ['sk-'], pattern: /(?<![\w-])sk-(?:proj|svcacct|admin|ant|or)-[\w-]{20,}/g, also: mixed },
  { kind: 'key', marks: ['sk-'], pattern: /(?<![\w-])sk-[A-Za-z0-9]{32,}(?![\w-])/g, also: mixed },
  { kind: 'key', marks: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: /(?<!\w)gh[pousr]_[A-Za-z0-9]{36,}/g },
  { kind: 'key', marks: ['github_pat_'], pattern: /(?<!\w)github_pat_\w{22,}/g },
  { kind: 'key', marks: ['glpat-'], pattern: /(?<!\w)glpat-[\w-]{20,}/g },
  { kind: 'key', marks: ['AKIA', 'ASIA'], pattern: /(?<!\w)A[KS]IA[A-Z2-7]{16}(?!\w)/g },
  { kind: 'key', marks: ['hf_'], pattern: /(?<!\w)hf_[A-Za-z0-9]{30,}(?!\w)/g },
  { kind: 'key', marks: ['AIza'], pattern: /(?<!\w)AIza[\w-]{35}(?![\w-])/g },
  { kind: 'key', marks: ['xox'], pattern: /(?<!\w)xox[abeoprs]-[A-Za-z0-9-]{16,}/g, also: mixed },
  { kind: 'key', marks: ['k_live_'], pattern: /(?<!\w)[prs]k_live_[A-Za-z0-9]{20,}/g },
  { kind: 'key', marks: ['npm_'], pattern: /(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)/g },
  { kind: 'key', marks: ['pypi-'], pattern: /(?<!\w)pypi-AgEI[\w-]{50,}/g },
  { kind: 'key', marks: ['gsk_'], pattern: /(?<!\w)gsk_[A-Za-z0-9]{40,}(?!\w)/g },
  { kind: 'token', marks: ['eyJ'], pattern: /(?<![\w.-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g },
  { kind: 'token', marks: ['earer '], pattern: /(?<!\w)[Bb]earer +[\w.~+/=-]{20,}/g, also: (match) => mixed(match.slice(7)) },
  {
    kind: 'privateKey',
    marks: ['PRIVATE KEY-----'],
    pattern:
      /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----(?:\s{0,4}(?:[A-Za-z][A-Za-z-]{1,20}: [^\n]{0,200}\n){0,4}[\w+/=\s\\]{0,20000})(?:-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY-----)?/g,
  },
  { kind: 'password', marks: ['://'], pattern: /(?<=[a-z]:\/\/)[\w.%+-]{1,100}:[^\s/@:'"<>{}$]{3,200}(?=@[\w-])/g },
  {
    kind: 'key',
    marks: ['api', 'API', 'Api', 'secret', 'SECRET', 'token', 'TOKEN'],
    pattern:
      /(?<![A-Za-z])(?:api_?key|secret_?key|access_?token|auth_?token|client_?secret|secret_access_key)["']? ?[:=] ?["'][\w./+=-]{20,200}["']/gi,
    also: (match) => mixed(/["']([^"']{20,})["']$/.exec(match)?.[1] ?? ''),
  },
];

const PHONE: Shape = {
  kind: 'phone',
  marks: ['+'],
  pattern: /(?<![\d.+)}\]-] ?|\b\w ?)\+[1-9]\d{0,2}[ -](?:\(\d{1,4}\)[ -]?)?\d{2,8}(?:[ -]\d{2,8}){1,4}(?!\w|\.\d|\^| ?[+*/=])/g,
};

/** What is private in a text, in order of place. Where two shapes overlap the first that begins counts. */
export function findPrivate(text: string, { phones = false }: PrivacyOptions = {}): PrivateFind[] {
  const finds: PrivateFind[] = [];
  for (const shape of phones ? [...SHAPES, PHONE] : SHAPES) {
    if (!shape.marks.some((mark) => text.includes(mark))) continue;
    for (const match of text.matchAll(shape.pattern)) {
      const found = match[0];
      if (shape.also?.(found) === false) continue;
      finds.push({ kind: shape.kind, excerpt: maskKey(found), index: match.index, length: found.length });
    }
  }
  addEmails(text, finds);
  finds.sort((a, b) => a.index - b.index || b.length - a.length);
  let end = 0;
  return finds.filter((find) => {
    if (find.index < end) return false;
    end = find.index + find.length;
    return true;
  });
}

/** The text with each find masked: for what is passed on, such as a card. */
export function maskPrivate(text: string): string {
  let masked = '';
  let at = 0;
  for (const { index, length, excerpt } of findPrivate(text)) {
    masked += text.slice(at, index) + excerpt;
    at = index + length;
  }
  return masked + text.slice(at);
}

/** Enough to recognise which one it is, not enough to use it. */
function maskKey(found: string): string {
  const head = /^(?:-----BEGIN [A-Z0-9 ]*PRIVATE|[Bb]earer +|[A-Za-z]{2,6}[_-]|A[KS]IA|AIza|eyJ|[\w ]*["']? ?[:=] ?["'])/.exec(found);
  return `${head === null ? '' : head[0]}***`;
}

const LOCAL = /[A-Za-z0-9._%+-]/;
const DOMAIN = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,5}([A-Za-z]{2,12})(?![\w([]|\.\w)/;

/** By the `@`, outwards: a pattern that begins with letters would try every word of a long text. */
function addEmails(text: string, finds: PrivateFind[]): void {
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at;
    while (start > 0 && at - start < 64 && LOCAL.test(text[start - 1]!)) start--;
    const local = text.slice(start, at);
    if (!/^[A-Za-z0-9]/.test(local) || local.includes('..') || local.endsWith('.')) continue;
    const host = DOMAIN.exec(text.slice(at + 1, at + 260));
    if (host === null || !TOP_LEVEL.has(host[1]!)) continue;
    const domain = host[0].toLowerCase();
    if (PLACEHOLDER_DOMAIN.test(domain) || PLACEHOLDER_LOCAL.test(local)) continue;
    finds.push({ kind: 'email', excerpt: `${local[0]}***@${host[0]}`, index: start, length: local.length + 1 + host[0].length });
  }
}

const PLACEHOLDER_DOMAIN = /(?:^|\.)(?:example|test|domain|email|yourdomain|leetcode|foo|bar|localhost)\.[a-z]+$/;
const PLACEHOLDER_LOCAL = /^(?:git|no-?reply|user(?:name)?|your[._-]?(?:name|email)|example)$/i;

/** Endings of addresses as people have them, in lower case: `x@w.transpose` and `A@B.To` are products of matrices. */
const TOP_LEVEL: ReadonlySet<string> = new Set(
  (
    'com org net edu gov mil int info biz name pro dev app cloud tech online site xyz academy email company ' +
    'ac ae ai ar at au be bg br by ca cc ch ci cl cn co cr cz de dk ec ee eg es eu fi fr ge gr hk hr hu id ie il im in io ir it jp ke kr kz ' +
    'lk lt lu lv ma me mk mx my ng nl no nz pa pe ph pk pl pt ro rs ru sa se sg si sk th tn tr tv tw ua ug uk us uy uz ve vn za'
  ).split(' '),
);
