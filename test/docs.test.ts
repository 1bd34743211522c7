/**
 * README, CHANGELOG and docs/ against what they speak of: commands and their options exist, recipes load, TypeScript compiles, JSON parses,
 * links lead somewhere. Runs none of the commands and opens no connection.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadRecipe, packagedRecipes, resolveRecipe } from '../src/recipe/load.js';
import type { RecipeInput } from '../src/recipe/schema.js';
import { planOf } from '../src/study/plan.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Page {
  /** Below the root, for messages. */
  readonly name: string;
  readonly text: string;
}

interface Block {
  readonly language: string;
  readonly text: string;
  /** `file:line` of its first line. */
  readonly at: string;
}

const pages: Page[] = ['README.md', 'CHANGELOG.md', ...below('docs')].map((name) => ({
  name,
  text: readFileSync(join(ROOT, name), 'utf8'),
}));
const blocks = pages.flatMap(blocksOf);
const written = (...languages: string[]): Block[] => blocks.filter(({ language }) => languages.includes(language));

function below(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
    .sort();
}

function blocksOf({ name, text }: Page): Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1]!,
    text: match[2]!,
    at: `${name}:${text.slice(0, match.index).split('\n').length + 1}`,
  }));
}

/** Text between the fenced blocks, without comments. */
const proseOf = ({ text }: Page): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/<!--[\s\S]*?-->/g, '');

describe('the pages', () => {
  it('are found, with blocks of each kind, all of a kind that is checked', () => {
    expect(pages.length).toBeGreaterThan(10);
    for (const language of ['sh', 'ts', 'yaml', 'json']) expect(written(language), language).not.toEqual([]);
    const checked = ['sh', 'bash', 'ts', 'yaml', 'json', 'python', 'text', ''];
    expect(blocks.filter(({ language }) => !checked.includes(language))).toEqual([]);
    for (const { name, text } of pages) expect([...text.matchAll(/^```/gm)].length % 2, `${name}: an open block`).toBe(0);
  });
});

describe('Python', () => {
  it.each(written('python'))('$at can be compiled', ({ text }) => {
    const { status, stderr } = spawnSync('python3', ['-c', 'import sys; compile(sys.stdin.read(), "page", "exec")'], {
      input: text,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});

describe('commands', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
  const lines = written('sh', 'bash').flatMap(({ text, at }) => text.split('\n').flatMap((line) => commandOf(line, at)));
  const inline = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/`((?:npx toolwise|npm run) [^`]+)`/g)].flatMap((match) =>
      // In a sentence a command may stand by its name alone.
      commandOf(match[1]!, page.name).map((line) => ({ ...line, mention: line.words.length === 3 })),
    ),
  );

  it.each([...lines.map((line) => ({ ...line, mention: false })), ...inline])('$at: $line', async ({ words, mention }) => {
    const [program, ...args] = words;
    if (program === 'npx') return checkToolwise(mention ? [args[1]!, '--help'] : args.slice(1));
    const [script, ...rest] = args.slice(1).filter((word) => word !== '-s' && word !== '--silent');
    expect(Object.keys(scripts)).toContain(script);
    // What stands behind `--` goes to the command of the same name.
    if (script === 'demo' && rest.length > 0) await checkToolwise(['demo', ...rest.slice(1)]);
  });

  it('of other programs name files that exist', () => {
    const files = blocks.flatMap(({ text }) => [...text.matchAll(/\bnpx tsx (\S+)|-r (\S+\.txt)/g)].map((match) => match[1] ?? match[2]!));
    const all = [...files, ...pages.flatMap((page) => [...proseOf(page).matchAll(/npx tsx ([\w./-]+)/g)].map((match) => match[1]!))];
    expect(all).toContain('examples/own-tool.ts');
    expect(all.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});

interface CommandLine {
  readonly line: string;
  readonly at: string;
  readonly words: readonly string[];
}

/** The line where it calls `npx toolwise` or `npm run`, with leading variables taken off. */
function commandOf(line: string, at: string): CommandLine[] {
  const words = wordsOf(line);
  while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift();
  const ours = (words[0] === 'npx' && words[1] === 'toolwise') || (words[0] === 'npm' && words[1] === 'run');
  return ours ? [{ line: line.trim(), at, words }] : [];
}

/** As a shell would split it: quotes hold words together, `#` begins a comment. */
function wordsOf(line: string): string[] {
  const code = line.replace(/(^|\s)#.*$/, '');
  return [...code.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map((match) => match[0].replace(/['"]/g, ''));
}

/** Parses by the real command's definition, without its action; `--set` of a packaged recipe must load. Commands may have commands. */
async function checkToolwise(args: readonly string[]): Promise<void> {
  const name = args[0]!;
  const file = join(ROOT, 'src', 'cli', `${name}.ts`);
  expect(existsSync(file), `there is no command ${name}`).toBe(true);
  const { register } = (await import(file)) as { register(program: Command): void };
  const program = new Command('toolwise').exitOverride().configureOutput({ writeErr: () => undefined });
  register(program);
  const command = program.commands.find((one) => one.name() === name)!;
  silence(command);
  try {
    program.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  }
  const recipe = command.args[0];
  const { set = [] } = command.opts<{ set?: string[] }>();
  if (name === 'train' && recipe !== undefined && packagedRecipes().includes(recipe)) await loadRecipe(recipe, { set });
}

function silence(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  if (command.commands.length === 0 || command.registeredArguments.length > 0) command.action(() => undefined);
  for (const inner of command.commands) silence(inner);
}

describe('a command that is not as it is written', () => {
  it.each([
    ['an option that does not exist', ['train', 'nano', '--stps', '3']],
    ['an argument that is missing', ['eval']],
    ['an argument too many', ['doctor', 'now']],
  ])('is found: %s', async (_, args) => {
    await expect(checkToolwise(args)).rejects.toThrow(CommanderError);
  });

  it('is found: a command that this version does not have, and a recipe value that is none', async () => {
    await expect(checkToolwise(['fly'])).rejects.toThrow('there is no command fly');
    await expect(checkToolwise(['train', 'nano', '--set', 'rl.stps=3'])).rejects.toThrow('stps');
  });
});

describe('recipes and plans', () => {
  it.each(written('yaml'))('$at resolves', ({ text, at }) => {
    const values = parse(text) as object;
    const recipes = 'claims' in values ? planOf(values, at).arms.map(({ recipe }) => recipe) : [resolveRecipe(values as RecipeInput)];
    for (const { stages } of recipes) expect(stages.length).toBeGreaterThan(0);
  });

  const inPrograms = written('ts').flatMap(({ text, at }) =>
    [...text.matchAll(/recipe: '([\w-]+)',\s+set: \[(.*)\],$/gm)].map((match) => ({
      at,
      name: match[1]!,
      set: [...match[2]!.matchAll(/'([^']*)'/g)].map((one) => one[1]!),
    })),
  );

  it.each(inPrograms)('$at: $name with $set loads', async ({ name, set }) => {
    const { sources } = await loadRecipe(name, { set });
    expect(sources.length).toBeGreaterThan(set.length);
  });
});

describe('JSON', () => {
  it.each(written('json'))('$at parses', ({ text }) => {
    for (const value of text.trim().startsWith('{"') ? text.trim().split('\n') : [text]) JSON.parse(value);
  });
});

describe('TypeScript', () => {
  it('compiles, every block as a module of its own', { timeout: 180_000 }, () => {
    expect(errorsOf(written('ts'))).toEqual([]);
  });

  it('would not compile with a wrong argument', { timeout: 180_000 }, () => {
    const wrong = "import { evaluate } from 'toolwise';\nawait evaluate({ model: 'nano', samples: '8' });";
    expect(errorsOf([{ language: 'ts', at: 'here:1', text: wrong }])).toHaveLength(1);
  });
});

/** One program over all blocks, which exist in memory only; `toolwise` is `src/index.ts`. */
function errorsOf(snippets: readonly Block[]): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  const settings: ts.CompilerOptions = {
    ...options,
    noUnusedLocals: false,
    noUnusedParameters: false,
    declaration: false,
    moduleDetection: ts.ModuleDetectionKind.Force,
    paths: { toolwise: [join(ROOT, 'src', 'index.ts')] },
  };
  const texts = new Map(snippets.map((block, i) => [join(ROOT, 'docs', `snippet-${i}.ts`), block]));
  const host = ts.createCompilerHost(settings);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file)?.text ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const block = texts.get(file);
    return block ? ts.createSourceFile(file, block.text, target, true) : getSourceFile(file, target, ...rest);
  };
  const program = ts.createProgram([...texts.keys()], settings, host);
  const diagnostics = [...texts.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  });
  return [...program.getOptionsDiagnostics(), ...diagnostics].map((diagnostic) => {
    const block = diagnostic.file && texts.get(diagnostic.file.fileName);
    const line = diagnostic.file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0;
    return `${block?.at ?? 'options'} + ${line}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`;
  });
}

describe('links', () => {
  const links = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map((match) => ({ from: page.name, to: match[1]! })),
  );
  const local = links.filter(({ to }) => !/^[a-z]+:/.test(to));

  it.each(local)('$from -> $to', ({ from, to }) => {
    const [path, heading] = to.split('#');
    const target = path === '' ? join(ROOT, from) : resolve(ROOT, dirname(from), path!);
    expect(existsSync(target), `${from}: ${to} leads nowhere`).toBe(true);
    if (heading !== undefined) expect(headingsOf(readFileSync(target, 'utf8')), `${from}: ${to}`).toContain(heading);
  });

  it('reach every page from the README', () => {
    const reached = new Set(['README.md']);
    for (let before = 0; before < reached.size; ) {
      before = reached.size;
      for (const { from, to } of local) if (reached.has(from)) reached.add(relative(ROOT, resolve(ROOT, dirname(from), to.split('#')[0]!)));
    }
    expect(pages.map(({ name }) => name).filter((name) => !reached.has(name))).toEqual([]);
  });

  it('and files that are named in the text exist', () => {
    const rooms = 'src|engine|test|docs|examples|recipes|scripts|models';
    const named = pages.flatMap((page) =>
      [...proseOf(page).matchAll(new RegExp(`\`((?:${rooms})/[\\w./-]*)\``, 'g'))].map((match) => ({ from: page.name, to: match[1]! })),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ to }) => !existsSync(join(ROOT, to)))).toEqual([]);
  });
});

const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
