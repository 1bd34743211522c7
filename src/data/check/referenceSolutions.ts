/** The reference solutions that a row of code carries, under the names that data sets give them. Runs nothing. */

const NAMES = ['reference_solution', 'canonical_solution', 'solution', 'solutions', 'gold_standard_solution', 'completion', 'code'];
/** Objects in which sets keep what does not fit their columns. */
const WITHIN = ['extra_info', 'metadata', 'reward_model'];
/** Of a row; a set may carry hundreds. */
const MOST = 3;

/** Python programs, the first few; empty where the row has none. */
export function referenceSolutions(values: Readonly<Record<string, unknown>>): string[] {
  for (const place of [values, ...WITHIN.map((name) => objectOf(values[name]))]) {
    for (const name of NAMES) {
      const found = textsOf(place[name]).filter(isPython);
      if (found.length > 0) return found.slice(0, MOST);
    }
  }
  return [];
}

/** A text, a list of texts, the JSON text of one, or an object with the code by language. */
function textsOf(value: unknown): string[] {
  const list = typeof value === 'string' && /^\s*\[\s*"/.test(value) ? parsed(value) : value;
  const items: readonly unknown[] = Array.isArray(list) ? list : [typeof value === 'string' ? value : list];
  return items.map((item) => (typeof item === 'string' ? item : codeOf(item))).filter((item) => typeof item === 'string');
}

function codeOf(value: unknown): unknown {
  const { python, python3, Python3, code, solution, language } = objectOf(value);
  if (typeof language === 'string' && !/^py/i.test(language)) return undefined;
  return python3 ?? Python3 ?? python ?? code ?? solution;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const read = typeof value === 'string' && value.trimStart().startsWith('{') ? parsed(value) : value;
  return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Readonly<Record<string, unknown>>) : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const OTHER_LANGUAGE =
  /^\s*(?:#include\b|using namespace\b|package \w|import java\.|public (?:static |final )?class\b|function \w+\(|#!.*\b(?:bash|node)\b)/m;
const FENCE = /^[ \t>]*(?:`{3,}|~{3,})/m;
/** A statement of Python: prose has none at the beginning of a line. */
const STATEMENT =
  /^\s*(?:def \w+\s*\(|class \w+|import \w|from \w[\w.]* import |for .+:|while .+:|if .+:|print\(|return\b|@\w|[A-Za-z_][\w.[\], ]*\s*(?:[+\-*/|&^%]|\/\/|\*\*)?=[^=])/m;

function isPython(text: string): boolean {
  if (FENCE.test(text)) return true;
  return text.trim() !== '' && !OTHER_LANGUAGE.test(text) && STATEMENT.test(text);
}

/** As a response that is graded: a program without fences is put into one. */
export const asResponse = (solution: string): string => (FENCE.test(solution) ? solution : `\`\`\`python\n${solution}\n\`\`\``);
