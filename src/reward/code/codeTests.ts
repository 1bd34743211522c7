/** The three kinds of tests a program can be judged by. How files write them down is `readCodeTests.ts`'s business. */

export type CodeTests = StdioTests | CallTests | AssertionTests;

/** The program reads standard input and prints. */
export interface StdioTests {
  readonly kind: 'stdio';
  readonly cases: readonly StdioCase[];
}

export interface StdioCase {
  readonly input: string;
  readonly output: string;
}

/** A function is called: a method of `class Solution`, or a function of the module. */
export interface CallTests {
  readonly kind: 'calls';
  readonly functionName: string;
  readonly cases: readonly CallCase[];
}

export interface CallCase {
  /** A JSON array: the positional arguments. As text, so that integers of any size arrive exact. */
  readonly arguments: string;
  /** What it may return, as JSON texts; one, or two where a file does not say whether it wraps results in a list. */
  readonly results: readonly string[];
}

/** A test program that calls the candidate and asserts. Each assertion of its `check` function, or of its top level, is a case. */
export interface AssertionTests {
  readonly kind: 'assertions';
  /** An expression that names what is tested: `add`, `Solution().add`. */
  readonly entryPoint: string;
  /** Source that stands before both the program and the tests: imports, helper classes. Not secret. */
  readonly importPrefix: string;
  readonly testCode: string;
}
