/**
 * Finds the Python program in a response. Does not judge it: whether it compiles is the sandbox's business.
 *
 * A fence is three or more backticks or tildes. The last block that is labelled as Python and not empty is the program; where no block is,
 * the last one without a label; where there is no block at all, the whole text if it reads as a program and not as prose. A fence that was
 * never closed ends with the text.
 */

interface Block {
  readonly label: string;
  readonly text: string;
}

interface OpenBlock {
  readonly fence: string;
  readonly indent: string;
  readonly label: string;
  readonly lines: string[];
}

const FENCE = /^([ \t>]*)(`{3,}|~{3,})[ \t]*([^\s`]*)[^`]*$/;
/** A fence that opens behind other text on its line; only with a label, for a bare one may as well be a quotation. */
const LATE_FENCE = /[^`~](`{3,}|~{3,})(\w[\w.]*)[ \t]*$/;
const ONE_LINE = /```(?:python3?|py)[ \t]+([^`\n]+)```/gi;
const PYTHON = /^\{?\.?(?:python(?:[23](?:\.\d+)?)?|py3?|pypy3?|ipython)\}?$/i;

/** The program's source without its fences; undefined where there is none. Only text after a closed `</think>` counts. */
export function findProgram(response: string): string | undefined {
  const text = afterThinking(response).replace(/\r\n?/g, '\n');
  const blocks = blocksOf(text).filter((block) => block.text.trim() !== '');
  const chosen = blocks.findLast((block) => PYTHON.test(block.label)) ?? blocks.findLast((block) => block.label === '');
  if (chosen !== undefined) return chosen.text;
  const short = [...text.matchAll(ONE_LINE)].at(-1)?.[1]?.trim();
  if (short !== undefined) return short;
  return blocks.length === 0 && looksLikeProgram(text) ? text.replace(/^\s*\n/, '').trimEnd() : undefined;
}

function afterThinking(response: string): string {
  const end = response.lastIndexOf('</think>');
  if (end !== -1) return response.slice(end + '</think>'.length);
  return response.trimStart().startsWith('<think>') ? '' : response;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let open: OpenBlock | undefined;
  const finish = () => {
    if (open !== undefined) blocks.push({ label: open.label, text: open.lines.join('\n') });
    open = undefined;
  };
  for (const line of text.split('\n')) {
    const found = FENCE.exec(line);
    const [indent, fence, label] = [found?.[1] ?? '', found?.[2] ?? '', found?.[3] ?? ''];
    if (open === undefined) {
      const late = found === null ? LATE_FENCE.exec(line) : null;
      if (found !== null) open = { fence, indent, label, lines: [] };
      else if (late !== null) open = { fence: late[1]!, indent: '', label: late[2]!, lines: [] };
    } else if (fence[0] !== open.fence[0] || fence.length < open.fence.length) {
      const own = line.startsWith(open.indent) ? line.slice(open.indent.length) : line;
      const end = own.trimEnd();
      if (end.endsWith(open.fence) && end.indexOf(open.fence[0]!) === end.length - open.fence.length) {
        open.lines.push(end.slice(0, -open.fence.length));
        finish();
      } else open.lines.push(own);
    } else if (open.lines.length === 0 && (label !== '' || !PYTHON.test(open.label))) {
      open = { ...open, label: label || open.label }; // doubled
    } else {
      finish();
      // A labelled fence closes nothing: it opens the next block.
      if (label !== '') open = { fence, indent, label, lines: [] };
    }
  }
  finish();
  return blocks;
}

const STATEMENT =
  /^(?:import [\w.]+|from [\w.]+ import |(?:async )?def \w+\(|class \w+[(:]|(?:for .+ in|while|if|with) .+:|try:|print\(|@\w|\w[\w.,[\] ]*\s?[-+*/|&^%]?=\s?\S|[\w.]+\(.*\)$)/;
const CONTINUATION = /^(?:elif .+:|else:|except.*:|finally:|pass$|[rbf]?"""|''')/;

/** Characters of a line that decide whether it is a statement. */
const LOOKED_AT = 300;

/** Without fences: the first line that says something is a statement, and so are most that are not indented. */
function looksLikeProgram(text: string): boolean {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^[#\s)\]}]/.test(line))
    .map((line) => line.slice(0, LOOKED_AT));
  const statements = lines.filter((line) => STATEMENT.test(line) || CONTINUATION.test(line));
  return lines.length > 0 && STATEMENT.test(lines[0]!) && statements.length >= 0.8 * lines.length;
}
