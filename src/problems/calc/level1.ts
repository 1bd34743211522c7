/** Level 1: one expression, written out or told as a story. */
import { type Family, unordered } from './family.js';
import {
  cratesSolution,
  differenceTimesSolution,
  multiplyAddSolution,
  shopSolution,
  sumTimesSolution,
  sumTimesSumSolution,
} from './solutions.js';

const multiplyAdd: Family = {
  name: 'muladd',
  level: 1,
  draw(random, size) {
    const [small, tiny] = [size !== 'standard', size === 'tiny'];
    const a = small ? random.int(12, tiny ? 149 : 999) : random.int(101, 9999);
    const b = tiny ? random.int(2, 3) : random.int(12, 99);
    const c = tiny ? random.int(2, 3) : random.int(11, 999);
    const sign = random.pick(['+', '-'] as const);
    const text = `${a} * ${b} ${sign} ${c}`;
    const asked = [`What is ${text}?`, `Compute ${text}.`];
    const product = BigInt(a) * BigInt(b);
    return {
      key: `${unordered(a, b)}${sign}${c}`,
      question: random.pick(small ? asked : [...asked, `Evaluate the expression ${text}.`]),
      answer: sign === '+' ? product + BigInt(c) : product - BigInt(c),
      programs: small ? [`${a}*${b}${sign}${c}`] : [`${a}*${b}${sign}${c}`, `${sign === '+' ? '' : '-'}${c}+${a}*${b}`],
      wrongPrograms: [`${a}+${b}${sign}${c}`, `${a}*${b}`, `${a}*${c}${sign}${b}`],
      explanation: [
        sign === '+' ? 'I multiply first and then add.' : 'I multiply first and then subtract.',
        'This is one expression; Python can evaluate it exactly.',
      ],
      solution: multiplyAddSolution(a, b, sign, c),
    };
  },
};

const brackets: Family = {
  name: 'paren',
  level: 1,
  draw(random, size) {
    if (size !== 'standard') {
      const tiny = size === 'tiny';
      const a = random.int(12, tiny ? 149 : 999);
      const b = tiny ? random.int(2, 3) : random.int(12, 999);
      const c = tiny ? random.int(2, 3) : random.int(12, 99);
      return {
        key: `(${unordered(a, b)})*${c}`,
        question: random.pick([`What is (${a} + ${b}) * ${c}?`, `Compute (${a} + ${b}) * ${c}.`]),
        answer: (BigInt(a) + BigInt(b)) * BigInt(c),
        programs: [`(${a}+${b})*${c}`],
        wrongPrograms: [`${a}+${b}*${c}`, `${a}+${b}`, `${a}*${b}*${c}`],
        explanation: ['The bracket comes first, then the product.'],
        solution: sumTimesSolution(a, b, c),
      };
    }
    const [a, b, c, d] = [random.int(12, 999), random.int(12, 999), random.int(12, 999), random.int(12, 999)];
    const twoSums = random.chance(0.5);
    const text = twoSums ? `(${a} + ${b}) * (${c} + ${d})` : `(${a} - ${b}) * ${c} + ${d}`;
    return {
      key: twoSums ? `(${unordered(a, b)})*(${unordered(c, d)})` : `(${a}-${b})*${c}+${d}`,
      question: random.pick([`What is ${text}?`, `Compute ${text}.`, `Find the value of ${text}.`]),
      answer: twoSums ? (BigInt(a) + BigInt(b)) * (BigInt(c) + BigInt(d)) : (BigInt(a) - BigInt(b)) * BigInt(c) + BigInt(d),
      programs: [text.replaceAll(' ', ''), twoSums ? `(${c}+${d})*(${a}+${b})` : `${d}+${c}*(${a}-${b})`],
      wrongPrograms: twoSums ? [`${a}+${b}*${c}+${d}`, `(${a}+${b})*${c}+${d}`] : [`${a}-${b}*${c}+${d}`, `(${a}-${b})*(${c}+${d})`],
      explanation: ['The brackets come first, then the product.', 'I keep the brackets and evaluate the whole expression.'],
      solution: twoSums ? sumTimesSumSolution(a, b, c, d) : differenceTimesSolution(a, b, c, d),
    };
  },
};

const CONTAINERS = [
  ['crate', 'crates', 'bottles', 'break'],
  ['box', 'boxes', 'pencils', 'are lost'],
  ['pallet', 'pallets', 'bricks', 'crack'],
  ['case', 'cases', 'eggs', 'break'],
  ['truck', 'trucks', 'tyres', 'are stolen'],
] as const;

const crates: Family = {
  name: 'crates',
  level: 1,
  draw(random, size) {
    const [small, tiny] = [size !== 'standard', size === 'tiny'];
    const held = random.int(tiny ? 12 : 24, tiny ? 149 : 480);
    const boxes = tiny ? random.int(2, 3) : small ? random.int(13, 99) : random.int(13, 990);
    const lost = tiny ? random.int(2, 3) : random.int(5, 99);
    const [one, many, item, fate] = random.pick(CONTAINERS);
    const smallItem = random.pick(['bottles', 'eggs']);
    const question = small
      ? `A ${random.pick(['box', 'case'])} holds ${held} ${smallItem}. How many ${smallItem} are left in ${boxes} after ${lost} break?`
      : random.pick([
          `A ${one} holds ${held} ${item}. How many ${item} are left in ${boxes} ${many} after ${lost} ${fate}?`,
          `There are ${boxes} ${many} with ${held} ${item} each, and ${lost} ${fate}. How many ${item} remain?`,
        ]);
    return {
      key: `${held}*${boxes}-${lost}`,
      question,
      answer: BigInt(held) * BigInt(boxes) - BigInt(lost),
      programs: small ? [`${held}*${boxes}-${lost}`] : [`${held}*${boxes}-${lost}`, `-${lost}+${boxes}*${held}`],
      wrongPrograms: [`${held}*${boxes}+${lost}`, `${held}*${boxes}`, `${held}-${lost}`, `${held}+${boxes}-${lost}`],
      explanation: small
        ? ['All of them, less what breaks.']
        : [`The total is ${held} times ${boxes}, and ${lost} are taken away.`, 'I multiply to get all of them and subtract the lost ones.'],
      solution: cratesSolution(held, boxes, lost),
    };
  },
};

const GOODS = ['chairs', 'lamps', 'desks', 'phones', 'jackets', 'books', 'radios', 'bikes'] as const;
const SMALL_GOODS = ['pens', 'books', 'lamps', 'bikes'] as const;

const shop: Family = {
  name: 'shop',
  level: 1,
  draw(random, size) {
    const [small, tiny] = [size !== 'standard', size === 'tiny'];
    const [a, b] = tiny ? [random.int(2, 3), random.int(2, 3)] : [random.int(3, 60), random.int(3, 60)];
    const [x, y] = tiny ? [random.int(11, 99), random.int(2, 3)] : [random.int(11, 250), random.int(11, 250)];
    const [first, second] = random.shuffle(small ? SMALL_GOODS : GOODS);
    const question = small
      ? `A shop sells ${a} ${first} at ${x} dollars and ${b} ${second} at ${y} dollars. What is the total?`
      : random.pick([
          `A shop sells ${a} ${first} at ${x} dollars each and ${b} ${second} at ${y} dollars each. What is the total in dollars?`,
          `Ana buys ${a} ${first} for ${x} dollars each and ${b} ${second} for ${y} dollars each. How much does she pay?`,
        ]);
    return {
      key: [`${a}*${x}`, `${b}*${y}`].sort().join('+'),
      question,
      answer: BigInt(a) * BigInt(x) + BigInt(b) * BigInt(y),
      programs: small ? [`${a}*${x}+${b}*${y}`] : [`${a}*${x}+${b}*${y}`, `sum([${a}*${x},${b}*${y}])`],
      wrongPrograms: [`${a}+${x}+${b}+${y}`, `${a}*${x}`, `${x}+${y}`, `${a}*${b}+${x}*${y}`],
      explanation: ['Number times price for both goods, then the sum.', 'I multiply each count by its price and add the two.'],
      solution: shopSolution(a, x, b, y),
    };
  },
};

export const LEVEL_1: readonly Family[] = [multiplyAdd, brackets, crates, shop];
