/** Level 3: a loop, or a number too large for the head. */
import { countDivisors, countPrimesBelow, digitSum, type Family, factorial, modPow, withMath } from './family.js';
import {
  countMultiplesSolution,
  divisorsSolution,
  factorialDigitSumSolution,
  factorialLengthSolution,
  modularPowerSolution,
  primesSolution,
  sumMultiplesSolution,
  sumOfPowersSolution,
} from './solutions.js';

const sumOfPowers: Family = {
  name: 'sumsq',
  level: 3,
  draw(random, size) {
    const n = random.int(11, 400);
    const [power, word] = random.pick([
      [2, 'squares'],
      [3, 'cubes'],
    ] as const);
    const asked = `What is the sum of the ${word} of the first ${n} positive integers?`;
    let sum = 0n;
    for (let i = 1n; i <= BigInt(n); i++) sum += i ** BigInt(power);
    return {
      key: `${n}^${power}`,
      question: size === 'small' ? asked : random.pick([asked, `Add the ${word} of all integers from 1 to ${n}.`]),
      answer: sum,
      programs:
        size === 'small'
          ? [`sum(i**${power} for i in range(${n}+1))`]
          : [`sum(i**${power} for i in range(1,${n + 1}))`, `sum(i**${power} for i in range(1,${n}+1))`],
      wrongPrograms: [`sum(i**${power} for i in range(${n}))`, `sum(i*${power} for i in range(${n}+1))`, `${n}**${power}`],
      explanation: [`I sum the ${word} in a loop.`, `A loop adds i**${power} for every i.`],
      solution: sumOfPowersSolution(n, power, sum),
    };
  },
};

const multiples: Family = {
  name: 'multiples',
  level: 3,
  draw(random, size) {
    const small = size === 'small';
    const a = random.int(3, 19);
    const n = random.int(100, small ? 2000 : 5000);
    if (small || random.chance(0.5)) {
      return {
        key: `count,${a},${n}`,
        question: `How many positive integers below ${n} are divisible by ${a}?`,
        answer: BigInt(Math.floor((n - 1) / a)),
        programs: small ? [`(${n}-1)//${a}`] : [`(${n}-1)//${a}`, `len(range(${a},${n},${a}))`],
        wrongPrograms: [`${n}//${a}+1`, `${n}%${a}`, `${n}-${a}`],
        explanation: [`I count the multiples of ${a} that are less than ${n}.`, `${n} itself does not count.`],
        solution: countMultiplesSolution(a, n),
      };
    }
    let sum = 0n;
    for (let i = a; i < n; i += a) sum += BigInt(i);
    return {
      key: `sum,${a},${n}`,
      question: `What is the sum of all multiples of ${a} below ${n}?`,
      answer: sum,
      programs: [`sum(range(${a},${n},${a}))`, `sum(i for i in range(1,${n}) if i%${a}==0)`],
      wrongPrograms: [`sum(range(${a},${n}))`, `sum(range(${a},${n}+${a},${a}))`],
      explanation: [`range with step ${a} gives the multiples.`, `I add the numbers that ${a} divides.`],
      solution: sumMultiplesSolution(a, n),
    };
  },
};

const modularPower: Family = {
  name: 'modpow',
  level: 3,
  draw(random, size) {
    const small = size === 'small';
    const a = random.int(2, 99);
    const b = small ? random.int(11, 99) : random.int(11, 500);
    const m = random.int(7, 997);
    const asked = `Find the remainder when ${a} to the power ${b} is divided by ${m}.`;
    return {
      key: `${a},${b},${m}`,
      question: small ? asked : random.pick([asked, `What is ${a}^${b} mod ${m}?`]),
      answer: modPow(BigInt(a), BigInt(b), BigInt(m)),
      programs: [`pow(${a},${b},${m})`, `${a}**${b}%${m}`],
      wrongPrograms: [`${a}*${b}%${m}`, `(${a}+${b})%${m}`, `${b}**2%${m}`],
      explanation: ['pow with three arguments gives the remainder of a power.', 'The power is huge, so I reduce it by the modulus.'],
      solution: modularPowerSolution(a, b, m),
    };
  },
};

const primes: Family = {
  name: 'primes',
  level: 3,
  draw(random, size) {
    const small = size === 'small';
    const n = random.int(30, small ? 400 : 2000);
    return {
      key: `${n}`,
      question: random.pick(
        small
          ? [`How many prime numbers are below ${n}?`, `Count the primes less than ${n}.`]
          : [`How many prime numbers are there below ${n}?`, `Count the primes less than ${n}.`],
      ),
      answer: countPrimesBelow(n),
      programs: small
        ? [`sum(all(p%d for d in range(2,p)) for p in range(2,${n}))`]
        : [`sum(all(p%d for d in range(2,p)) for p in range(2,${n}))`, `len([p for p in range(2,${n}) if all(p%d for d in range(2,p))])`],
      wrongPrograms: [`sum(p%2 for p in range(2,${n}))`, `sum(all(p%d for d in range(2,p)) for p in range(${n}))`, `len(range(2,${n}))`],
      explanation: ['I count the numbers that nothing divides.', 'I test every number for divisors.'],
      solution: primesSolution(n),
    };
  },
};

const divisors: Family = {
  name: 'divisors',
  level: 3,
  draw(random, size) {
    const small = size === 'small';
    const n = random.int(60, small ? 2000 : 9999);
    const asked = `How many positive divisors does ${n} have?`;
    return {
      key: `${n}`,
      question: small ? asked : random.pick([asked, `Count the divisors of ${n}.`]),
      answer: countDivisors(n),
      programs: small
        ? [`sum(${n}%d==0 for d in range(1,${n}+1))`]
        : [`sum(${n}%d==0 for d in range(1,${n + 1}))`, `len([d for d in range(1,${n}+1) if ${n}%d==0])`],
      wrongPrograms: [
        `sum(${n}%d==0 for d in range(1,${n}))`,
        `sum(${n}%d==0 for d in range(2,${n}))`,
        `sum(${n}%d for d in range(1,${n}+1))`,
      ],
      explanation: ['I try every number and count those that divide it.', 'The number itself is a divisor too.'],
      solution: divisorsSolution(n),
    };
  },
};

const factorialDigits: Family = {
  name: 'factdigits',
  level: 3,
  draw(random, size) {
    const small = size === 'small';
    const n = random.int(8, small ? 299 : 120);
    const value = factorial(n);
    if (small || random.chance(0.5)) {
      return {
        key: `sum,${n}`,
        question: `What is the sum of the digits of ${n}!?`,
        answer: digitSum(value),
        programs: small
          ? [withMath(`sum(int(d) for d in str(math.factorial(${n})))`)]
          : [withMath(`sum(int(d) for d in str(math.factorial(${n})))`), withMath(`sum(map(int,str(math.factorial(${n}))))`)],
        wrongPrograms: [withMath(`math.factorial(${n})%9`), withMath(`len(str(math.factorial(${n})))`), `sum(int(d) for d in str(${n}))`],
        explanation: ['I turn the factorial into text and add its digits.', 'First the factorial, then the sum of its digits.'],
        solution: factorialDigitSumSolution(n, value, digitSum(value)),
      };
    }
    return {
      key: `count,${n}`,
      question: `How many digits does ${n}! have?`,
      answer: BigInt(value.toString().length),
      programs: [withMath(`len(str(math.factorial(${n})))`)],
      wrongPrograms: [`len(str(${n}))`, `${n}*${n}`],
      explanation: ['The length of the factorial as text is its number of digits.'],
      solution: factorialLengthSolution(n, value),
    };
  },
};

export const LEVEL_3: readonly Family[] = [sumOfPowers, multiples, modularPower, primes, divisors, factorialDigits];
