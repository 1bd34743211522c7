/** Level 2: a named operation on two numbers. */
import { digitSum, type Family, gcd, lcm, unordered, withMath } from './family.js';
import { digitsOfProductSolution, gcdSolution, lcmSolution, remainderSolution } from './solutions.js';

const remainder: Family = {
  name: 'remainder',
  level: 2,
  draw(random, size) {
    const small = size === 'small';
    const a = small ? random.int(1000, 9999) : random.int(10_000, 999_999);
    const b = small ? random.int(13, 199) : random.int(13, 997);
    const asked = [`What is the remainder when ${a} is divided by ${b}?`, `Find ${a} modulo ${b}.`];
    return {
      key: `${a},${b}`,
      question: random.pick(
        small ? asked : [...asked, `${a} sweets are shared equally among ${b} children. How many sweets are left over?`],
      ),
      answer: BigInt(a) % BigInt(b),
      programs: small ? [`${a}%${b}`] : [`${a}%${b}`, `${a}-${a}//${b}*${b}`],
      wrongPrograms: [`${a}//${b}`, `${a}-${b}`, `${b}%${a}`],
      explanation: ['The remainder is what the % operator gives.', 'What is left over after the division is the remainder.'],
      solution: remainderSolution(a, b),
    };
  },
};

const greatestDivisor: Family = {
  name: 'gcd',
  level: 2,
  draw(random, size) {
    const small = size === 'small';
    const common = random.int(2, 60);
    const [a, b] = small
      ? [common * random.int(4, 160), common * random.int(4, 160)]
      : [common * random.int(11, 300), common * random.int(11, 300)];
    const asked = `What is the greatest common divisor of ${a} and ${b}?`;
    return {
      key: unordered(a, b),
      question: small ? asked : random.pick([asked, `Find gcd(${a}, ${b}).`]),
      answer: gcd(BigInt(a), BigInt(b)),
      programs: small ? [withMath(`math.gcd(${a},${b})`)] : [withMath(`math.gcd(${a},${b})`), `from math import gcd\ngcd(${a},${b})`],
      wrongPrograms: [`${a}%${b}`, `${a}//${b}`, withMath(`math.lcm(${a},${b})`)],
      explanation: ['The math module has gcd for the greatest common divisor.', 'I need the largest number that divides both.'],
      solution: gcdSolution(a, b),
    };
  },
};

const leastMultiple: Family = {
  name: 'lcm',
  level: 2,
  draw(random, size) {
    const [a, b] = [random.int(12, 240), random.int(12, 240)];
    const asked = `What is the least common multiple of ${a} and ${b}?`;
    return {
      key: unordered(a, b),
      question: size === 'small' ? asked : random.pick([asked, `Find lcm(${a}, ${b}).`]),
      answer: lcm(BigInt(a), BigInt(b)),
      programs:
        size === 'small'
          ? [withMath(`math.lcm(${a},${b})`)]
          : [withMath(`math.lcm(${a},${b})`), withMath(`${a}*${b}//math.gcd(${a},${b})`)],
      wrongPrograms: [`${a}*${b}`, `${a}+${b}`, withMath(`math.gcd(${a},${b})`)],
      explanation: ['The math module has lcm for the least common multiple.', 'I need the smallest number that both divide.'],
      solution: lcmSolution(a, b),
    };
  },
};

const digitsOfProduct: Family = {
  name: 'digitsum',
  level: 2,
  draw(random, size) {
    const small = size === 'small';
    const a = random.int(101, 9999);
    const b = small ? random.int(11, 999) : random.int(101, 9999);
    const asked = `What is the sum of the digits of ${a} * ${b}?`;
    return {
      key: unordered(a, b),
      question: small ? asked : random.pick([asked, `Compute ${a} * ${b} and add up its digits.`]),
      answer: digitSum(BigInt(a) * BigInt(b)),
      programs: small ? [`sum(int(d) for d in str(${a}*${b}))`] : [`sum(int(d) for d in str(${a}*${b}))`, `sum(map(int,str(${a}*${b})))`],
      wrongPrograms: [`${a}*${b}`, `len(str(${a}*${b}))`, `sum(int(d) for d in str(${a}+${b}))`],
      explanation: ['I turn the product into text and add its digits.', 'First the product, then the sum of its digits.'],
      solution: digitsOfProductSolution(a, b),
    };
  },
};

export const LEVEL_2: readonly Family[] = [remainder, greatestDivisor, leastMultiple, digitsOfProduct];
