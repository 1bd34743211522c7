/** What names, commands and characters of LaTeX and of plain text stand for: tables, in one spelling. Cutting a text is `tokens.ts`. */
import { type FunctionName, NAMED_FUNCTIONS } from './node.js';

/** What a name, a command or a character stands for. */
export type Meaning =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'constant'; readonly name: 'pi' | 'e' | 'i' | 'infinity' }
  | { readonly type: 'function'; readonly name: FunctionName }
  | { readonly type: 'sign'; readonly sign: string };

const fn = (name: FunctionName): Meaning => ({ type: 'function', name });
const sign = (text: string): Meaning => ({ type: 'sign', sign: text });
const INFINITY: Meaning = { type: 'constant', name: 'infinity' };

/** Names that mean the same with and without a backslash. */
export const NAMES: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...NAMED_FUNCTIONS.map((name): [string, Meaning] => [name, fn(name)]),
  ['asin', fn('arcsin')],
  ['acos', fn('arccos')],
  ['atan', fn('arctan')],
  ['abs', fn('abs')],
  ['floor', fn('floor')],
  ['ceil', fn('ceil')],
  ['factorial', fn('factorial')],
  ['binomial', fn('binomial')],
  ['sqrt', sign('√')],
  ['cbrt', sign('∛')],
  ['pi', { type: 'constant', name: 'pi' }],
  ['infty', INFINITY],
  ['infinity', INFINITY],
  ['inf', INFINITY],
  ['Infinity', INFINITY],
  ['oo', INFINITY],
]);

const GREEK = 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega'.split(' ');
export const GREEK_NAMES: ReadonlySet<string> = new Set([
  ...GREEK,
  ...GREEK.map((name) => name[0]!.toUpperCase() + name.slice(1)),
  'Pi',
  'varepsilon',
  'vartheta',
  'varphi',
  'varrho',
  'varsigma',
  'ell',
  'hbar',
]);

/** Greek letters as characters; those that look Latin have no command, and μ may begin a unit. */
const GREEK_CHARACTERS: readonly (readonly [string, string])[] = [
  ...[...'αβγδεζηθικλνξρστυφχψω'].map((char, i) => [char, GREEK.filter((name) => name !== 'mu')[i]!] as const),
  ...[...'ΓΔΘΛΞΠΣΦΨΩ'].map((char, i) => [char, 'Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega'.split(' ')[i]!] as const),
  ['ϕ', 'varphi'],
  ['ϵ', 'varepsilon'],
  ['ϑ', 'vartheta'],
  ['ℓ', 'ell'],
];

export const COMMANDS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...NAMES,
  ['sqrt', sign('\\sqrt')],
  ['frac', sign('\\frac')],
  ['binom', sign('\\binom')],
  ['choose', sign('\\choose')],
  ['over', sign('\\over')],
  ['imath', { type: 'constant', name: 'i' }],
  ['jmath', { type: 'constant', name: 'i' }],
  ['setminus', sign('∖')],
  ['backslash', sign('∖')],
  ['cdot', sign('*')],
  ['times', sign('*')],
  ['ast', sign('*')],
  ['div', sign('/')],
  ['pm', sign('±')],
  ['mp', sign('∓')],
  ['le', sign('≤')],
  ['leq', sign('≤')],
  ['leqslant', sign('≤')],
  ['ge', sign('≥')],
  ['geq', sign('≥')],
  ['geqslant', sign('≥')],
  ['lt', sign('<')],
  ['gt', sign('>')],
  ['ne', sign('≠')],
  ['neq', sign('≠')],
  ['in', sign('∈')],
  ['cup', sign('∪')],
  ['lor', { type: 'sign', sign: '∨' }],
  ['vee', { type: 'sign', sign: '∨' }],
  ['mid', sign('|')],
  ['vert', sign('|')],
  ['lvert', sign('(abs')],
  ['rvert', sign(')abs')],
  ['lfloor', sign('⌊')],
  ['rfloor', sign('⌋')],
  ['lceil', sign('⌈')],
  ['rceil', sign('⌉')],
  ['langle', sign('⟨')],
  ['rangle', sign('⟩')],
  ['lbrace', sign('\\{')],
  ['rbrace', sign('\\}')],
  ['lbrack', sign('[')],
  ['rbrack', sign(']')],
  ['circ', sign('∘')],
  ['degree', sign('°')],
  ['percent', sign('%')],
  ['emptyset', sign('∅')],
  ['varnothing', sign('∅')],
  ['sum', sign('\\sum')],
  ['prod', sign('\\prod')],
  ['int', sign('\\int')],
  ['prime', sign("'")],
]);

export const CHARACTERS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ...[...'+-*/^_()[]{},;=<>|!%:&'].map((char): [string, Meaning] => [char, sign(char)]),
  ["'", sign("'")],
  ['′', sign("'")],
  ['×', sign('*')],
  ['·', sign('*')],
  ['⋅', sign('*')],
  ['∙', sign('*')],
  ['÷', sign('/')],
  ['±', sign('±')],
  ['∓', sign('∓')],
  ['≤', sign('≤')],
  ['≥', sign('≥')],
  ['⩽', sign('≤')],
  ['⩾', sign('≥')],
  ['≠', sign('≠')],
  ['∈', sign('∈')],
  ['∪', sign('∪')],
  ['∨', sign('∨')],
  ['∖', sign('∖')],
  ['∅', sign('∅')],
  ['√', sign('√')],
  ['∛', sign('∛')],
  ['°', sign('°')],
  ['⌊', sign('⌊')],
  ['⌋', sign('⌋')],
  ['⌈', sign('⌈')],
  ['⌉', sign('⌉')],
  ['⟨', sign('⟨')],
  ['⟩', sign('⟩')],
  ['∞', INFINITY],
  ['π', { type: 'constant', name: 'pi' }],
  ...GREEK_CHARACTERS.map(([char, name]): [string, Meaning] => [char, { type: 'name', name: `\\${name}` }]),
  ['ℝ', { type: 'name', name: 'ℝ' }],
  ['ℤ', { type: 'name', name: 'ℤ' }],
]);

export const CURRENCIES: ReadonlyMap<string, string> = new Map([
  ['$', 'dollar'],
  ['€', 'euro'],
  ['£', 'pound'],
  ['¥', 'yen'],
  ['₹', 'rupee'],
]);
export const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';
export const VULGAR: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['½', [1, 2]],
  ['⅓', [1, 3]],
  ['⅔', [2, 3]],
  ['¼', [1, 4]],
  ['¾', [3, 4]],
  ['⅕', [1, 5]],
  ['⅖', [2, 5]],
  ['⅗', [3, 5]],
  ['⅘', [4, 5]],
  ['⅙', [1, 6]],
  ['⅚', [5, 6]],
  ['⅛', [1, 8]],
  ['⅜', [3, 8]],
  ['⅝', [5, 8]],
  ['⅞', [7, 8]],
]);

/** Commands whose braces hold text. */
export const TEXT_COMMANDS: ReadonlySet<string> = new Set(
  'text textbf textit textrm textnormal mbox mathrm operatorname mathsf mathit rm'.split(' '),
);
/** Commands that make another name of what they stand on. */
export const ACCENTS: ReadonlySet<string> = new Set(
  'vec hat bar tilde dot ddot overline underline overrightarrow overleftarrow widehat widetilde mathbf boldsymbol mathbb mathcal mathfrak angle triangle'.split(
    ' ',
  ),
);
