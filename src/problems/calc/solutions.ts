/**
 * Worked solutions in plain text, one function a family: every calculation stands as `expression = value` and is true, and the last number
 * is the answer. `^` is the power, `mod` the remainder, `!` the factorial. Draws nothing.
 */

const answerIs = (steps: readonly string[], answer: bigint | number): string => [...steps, `The answer is ${answer}.`].join('\n');

export function multiplyAddSolution(a: number, b: number, sign: '+' | '-', c: number): string {
  const product = a * b;
  const result = sign === '+' ? product + c : product - c;
  return answerIs([`The product comes first: ${a} * ${b} = ${product}.`, `Then ${product} ${sign} ${c} = ${result}.`], result);
}

export function sumTimesSolution(a: number, b: number, c: number): string {
  const sum = a + b;
  return answerIs([`The bracket is ${a} + ${b} = ${sum}.`, `Times ${c} that makes ${sum} * ${c} = ${sum * c}.`], sum * c);
}

export function sumTimesSumSolution(a: number, b: number, c: number, d: number): string {
  const [first, second] = [a + b, c + d];
  const steps = [
    `The first bracket is ${a} + ${b} = ${first}.`,
    `The second bracket is ${c} + ${d} = ${second}.`,
    `Their product is ${first} * ${second} = ${first * second}.`,
  ];
  return answerIs(steps, first * second);
}

export function differenceTimesSolution(a: number, b: number, c: number, d: number): string {
  const difference = a - b;
  const product = difference * c;
  const steps = [
    `The bracket is ${a} - ${b} = ${difference}.`,
    `Times ${c} that makes ${difference} * ${c} = ${product}.`,
    `With ${d} added, ${product} + ${d} = ${product + d}.`,
  ];
  return answerIs(steps, product + d);
}

export function cratesSolution(held: number, boxes: number, lost: number): string {
  const all = held * boxes;
  return answerIs(
    [`Together there are ${held} * ${boxes} = ${all}.`, `After the loss ${all} - ${lost} = ${all - lost} remain.`],
    all - lost,
  );
}

export function shopSolution(a: number, x: number, b: number, y: number): string {
  const [first, second] = [a * x, b * y];
  const steps = [
    `The first goods come to ${a} * ${x} = ${first} dollars.`,
    `The others come to ${b} * ${y} = ${second} dollars.`,
    `Together that is ${first} + ${second} = ${first + second} dollars.`,
  ];
  return answerIs(steps, first + second);
}

export function remainderSolution(a: number, b: number): string {
  const times = Math.floor(a / b);
  const whole = times * b;
  return answerIs(
    [`${b} fits ${times} times into ${a}: ${times} * ${b} = ${whole}.`, `What is left is ${a} - ${whole} = ${a - whole}.`],
    a - whole,
  );
}

export function gcdSolution(a: number, b: number): string {
  const { steps, gcd } = euclid(a, b);
  return answerIs(['I take the smaller number from the larger one as often as it goes, until nothing is left.', ...steps], gcd);
}

export function lcmSolution(a: number, b: number): string {
  const { steps, gcd } = euclid(a, b);
  const multiple = (a * b) / gcd;
  const last = `The product divided by it is ${a} * ${b} / ${gcd} = ${multiple}.`;
  return answerIs(['First the greatest common divisor.', ...steps, `It is ${gcd}.`, last], multiple);
}

function euclid(a: number, b: number): { readonly steps: readonly string[]; readonly gcd: number } {
  const steps: string[] = [];
  let [x, y] = [Math.max(a, b), Math.min(a, b)];
  while (y !== 0) {
    const left = x % y;
    const times = Math.floor(x / y);
    steps.push(times === 1 ? `${x} - ${y} = ${left}.` : `${x} - ${times} * ${y} = ${left}.`);
    [x, y] = [y, left];
  }
  return { steps, gcd: x };
}

export function digitsOfProductSolution(a: number, b: number): string {
  const product = a * b;
  const digits = [...String(product)];
  const sum = digits.reduce((total, digit) => total + Number(digit), 0);
  return answerIs([`The product is ${a} * ${b} = ${product}.`, `Its digits make ${digits.join(' + ')} = ${sum}.`], sum);
}

export function sumOfPowersSolution(n: number, power: 2 | 3, sum: bigint): string {
  if (power === 2) {
    const formula = `${n} * (${n} + 1) * (2 * ${n} + 1) / 6`;
    return answerIs([`The squares from 1 to n add up to n(n + 1)(2n + 1)/6, here ${formula} = ${sum}.`], sum);
  }
  const plain = (n * (n + 1)) / 2;
  const steps = [
    'The cubes from 1 to n add up to the square of the sum from 1 to n.',
    `That sum is ${n} * (${n} + 1) / 2 = ${plain}.`,
    `Its square is ${plain}^2 = ${sum}.`,
  ];
  return answerIs(steps, sum);
}

export function countMultiplesSolution(a: number, n: number): string {
  const count = Math.floor((n - 1) / a);
  const steps = [
    `The largest number that counts is ${n} - 1 = ${n - 1}.`,
    `The largest multiple of ${a} up to it is ${a} * ${count} = ${a * count}.`,
  ];
  return answerIs(steps, count);
}

export function sumMultiplesSolution(a: number, n: number): string {
  const count = Math.floor((n - 1) / a);
  const plain = (count * (count + 1)) / 2;
  const steps = [
    `There are ${count} of them, for ${a} * ${count} = ${a * count} is the largest below ${n}.`,
    `The numbers from 1 to ${count} add up to ${count} * (${count} + 1) / 2 = ${plain}.`,
    `Times ${a} that is ${a} * ${plain} = ${a * plain}.`,
  ];
  return answerIs(steps, a * plain);
}

export function modularPowerSolution(a: number, b: number, m: number): string {
  const steps = [`I square and multiply, from the front of ${b} written in binary, and keep only remainders.`];
  const start = a % m;
  steps.push(`${a} mod ${m} = ${start}.`);
  let value = start;
  for (const bit of b.toString(2).slice(1)) {
    const square = (value * value) % m;
    steps.push(`${value} * ${value} mod ${m} = ${square}.`);
    value = square;
    if (bit === '0') continue;
    const next = (value * start) % m;
    steps.push(`${value} * ${start} mod ${m} = ${next}.`);
    value = next;
  }
  return answerIs(steps, value);
}

export function primesSolution(n: number): string {
  const counts: number[] = [];
  for (let candidate = 2; candidate < n; candidate++) {
    const block = Math.floor(candidate / 100);
    counts[block] ??= 0;
    if (isPrime(candidate)) counts[block]++;
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  const steps = [`I go through the numbers below ${n}, a hundred at a time, and cross out what a smaller prime divides.`];
  if (counts.length > 1) steps.push(`The primes that remain are ${counts.join(' + ')} = ${total}.`);
  return answerIs(steps, total);
}

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return n > 1;
}

export function divisorsSolution(n: number): string {
  const powers: { readonly prime: number; readonly exponent: number }[] = [];
  let rest = n;
  for (let prime = 2; prime * prime <= rest; prime++) {
    let exponent = 0;
    for (; rest % prime === 0; rest /= prime) exponent++;
    if (exponent > 0) powers.push({ prime, exponent });
  }
  if (rest > 1) powers.push({ prime: rest, exponent: 1 });
  if (powers.length === 1 && rest === n) return answerIs([`${n} is prime: only 1 and ${n} divide it, and 1 + 1 = 2.`], 2);
  const factors = powers.map(({ prime, exponent }) => (exponent === 1 ? String(prime) : `${prime}^${exponent}`));
  const count = powers.reduce((product, { exponent }) => product * (exponent + 1), 1);
  const choices = powers.map(({ exponent }) => `(${exponent} + 1)`);
  const steps = [
    `${n} falls into primes: ${factors.join(' * ')} = ${n}.`,
    `A divisor takes each of them from none to all times: ${choices.join(' * ')} = ${count}.`,
  ];
  return answerIs(steps, count);
}

export function factorialDigitSumSolution(n: number, value: bigint, sum: bigint): string {
  const digits = String(value);
  const products = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((digit) => {
    const times = digits.split(String(digit)).length - 1;
    return times === 0 ? [] : [`${times} * ${digit}`];
  });
  return answerIs([`The factorial is ${n}! = ${digits}.`, `I count each digit: ${products.join(' + ')} = ${sum}.`], sum);
}

export function factorialLengthSolution(n: number, value: bigint): string {
  return answerIs([`The factorial is ${n}! = ${value}.`, 'I count its digits.'], String(value).length);
}
