/** The tables of the system call filter agree with each other and, where they are installed, with the kernel's headers. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findExecutable } from './host.js';
import { pythonSourcePath } from './pythonWorker.js';

const python = findExecutable('/usr/bin/python3') ?? findExecutable('python3');

interface Tables {
  readonly numbers: Record<string, Record<string, number>>;
  readonly special: string[];
  readonly filters: Record<string, [number, number, number, number][]>;
}

function readTables(): Tables {
  const script =
    'import sys, json, struct; sys.path.insert(0, sys.argv[1]); import seccomp; ' +
    'print(json.dumps({"numbers": seccomp.NUMBERS, "special": seccomp.SPECIAL, ' +
    '"filters": {m: list(struct.iter_unpack("HBBI", seccomp.build(m))) for m in seccomp.NUMBERS}}))';
  return JSON.parse(execFileSync(python!, ['-B', '-c', script, dirname(pythonSourcePath('seccomp.py'))], { encoding: 'utf8' })) as Tables;
}

const allow = 0x7fff0000;
const kill = 0x80000000;
const errno = (number: number) => 0x00050000 | number;
const arch: Record<string, number> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };

/** What the kernel would answer, by running the filter. */
function decide(filter: Tables['filters'][string], call: { nr: number; arch: number; argument?: number }): number {
  let value = 0;
  for (let at = 0; at < filter.length; ) {
    const [code, whenTrue, whenFalse, constant] = filter[at]!;
    at++;
    if (code === 0x06) return constant;
    if (code === 0x20) value = constant === 0 ? call.nr : constant === 4 ? call.arch : (call.argument ?? 0);
    else {
      const holds = code === 0x15 ? value === constant : code === 0x35 ? value >= constant : (value & constant) !== 0;
      at += holds ? whenTrue : whenFalse;
    }
  }
  throw new Error('ran off the end of the filter');
}

describe.skipIf(python === undefined)('the system call filter', () => {
  const tables = python === undefined ? undefined! : readTables();

  it('refuses the same calls on both machines, save those that only one has', () => {
    const [x86, arm] = [Object.keys(tables.numbers.x86_64!), Object.keys(tables.numbers.aarch64!)];
    expect(x86.filter((name) => !arm.includes(name)).sort()).toEqual(['ioperm', 'iopl', 'modify_ldt']);
    expect(arm.filter((name) => !x86.includes(name))).toEqual([]);
  });

  it.each(['x86_64', 'aarch64'])('has each number once on %s', (machine) => {
    const numbers = Object.values(tables.numbers[machine]!);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it.each([
    ['x86_64', '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'],
    ['aarch64', '/usr/include/asm-generic/unistd.h'],
  ])('has the numbers of the kernel headers on %s', (machine, path) => {
    if (!existsSync(path)) return;
    const known = new Map(
      [...readFileSync(path, 'utf8').matchAll(/^#define\s+__NR(?:3264)?_(\w+)\s+(\d+)/gm)].map((it) => [it[1]!, Number(it[2])]),
    );
    for (const [name, number] of Object.entries(tables.numbers[machine]!)) {
      if (known.has(name)) expect([name, number]).toEqual([name, known.get(name)]);
    }
  });

  describe.each(['x86_64', 'aarch64'])('on %s', (machine) => {
    const ask = (nr: number, argument?: number) =>
      decide(tables.filters[machine]!, { nr, arch: arch[machine]!, ...(argument === undefined ? {} : { argument }) });

    it('refuses every listed call', () => {
      for (const [name, number] of Object.entries(tables.numbers[machine]!)) {
        if (!tables.special.includes(name)) expect([name, ask(number)]).toEqual([name, errno(1)]);
      }
    });

    it('lets all other numbers through', () => {
      const listed = new Set(Object.values(tables.numbers[machine]!));
      for (let number = 0; number < 480; number++) if (!listed.has(number)) expect([number, ask(number)]).toEqual([number, allow]);
    });

    it('lets clone make threads and processes but no namespace', () => {
      const { clone, clone3 } = tables.numbers[machine]! as { clone: number; clone3: number };
      expect(ask(clone, 17)).toBe(allow);
      expect(ask(clone, 0x3d0f00)).toBe(allow);
      for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
        expect(ask(clone, flag | 17)).toBe(errno(1));
      expect(ask(clone3)).toBe(errno(38));
    });

    it('knows four socket families', () => {
      const allowed = Array.from({ length: 64 }, (_, family) => family).filter(
        (family) => ask(tables.numbers[machine]!.socket!, family) === allow,
      );
      expect(allowed).toEqual([1, 2, 10, 16]);
      expect(ask(tables.numbers[machine]!.socket!, 40)).toBe(errno(97));
    });

    it('kills on the numbering of another machine', () => {
      expect(decide(tables.filters[machine]!, { nr: 0, arch: 0x40000003 })).toBe(kill);
    });
  });

  it('kills on the x32 numbering', () => {
    expect(decide(tables.filters.x86_64!, { nr: 0x40000000 | 1, arch: arch.x86_64! })).toBe(kill);
  });
});
