/** Rules of reading that an answer could slip through in either direction: what must not be equal beside what must stay so. */
import { describe, expect, it } from 'vitest';
import { answerKey, sameAnswer } from './gradeAnswer.js';

type Pairs = readonly (readonly [string, string])[];

const RULES: Readonly<Record<string, { readonly equal: Pairs; readonly different: Pairs }>> = {
  'a set inside a collection is not its element': {
    equal: [
      ['\\{\\{1\\},\\{2\\}\\}', '\\{\\{2\\},\\{1\\}\\}'],
      ['\\{1\\}', '1'],
      ['(1,\\{2,3\\})', '(1,\\{3,2\\})'],
      ['\\{\\{1,1\\}\\}', '\\{\\{1\\}\\}'],
      ['\\{1,2\\}, \\{3\\}', '\\{3\\}, \\{2,1\\}'],
      ['\\{3, \\{2, \\{1\\}\\}\\}', '\\{\\{\\{1\\}, 2\\}, 3\\}'],
    ],
    different: [
      ['\\{1,2,3\\}', '\\{1,2,\\{3\\}\\}'],
      ['\\{\\{1\\},\\{2\\}\\}', '\\{1,2\\}'],
      ['\\{1\\}, \\{2\\}', '1, 2'],
      ['\\{\\{1\\}\\}', '\\{1\\}'],
      ['\\{\\{1\\}\\}', '1'],
      ['(1,\\{2\\})', '(1,2)'],
      ['\\{\\emptyset\\}', '\\emptyset'],
      ['\\{3, \\{2, \\{1\\}\\}\\}', '\\{3, \\{2, 1\\}\\}'],
    ],
  },
  'digits in groups of three are a number, never a list': {
    equal: [
      ['(0,234)', '(0, 234)'],

      ['1,234', '1234'],
      ['1, 234', '234, 1'],
      ['\\{1,234\\}', '\\{234,1\\}'],
      ['(1,234)', '(1, 234)'],
      ['x=1, 234', '234, 1'],
    ],
    different: [
      ['0,234', '234'],
      ['0,234', '0.234'],

      ['1,234', '234,1'],
      ['1,234,567', '567,234,1'],
      ['\\{1,234\\}', '1234'],
      ['1,234', '1'],
    ],
  },
  'case says nothing in words, and something in variables': {
    equal: [
      ['\\text{B}', 'B'],
      ['Red', 'red'],
      ['RED', '\\text{red}'],
      ['Tom', 'tom'],
      ['NO', 'no'],
      ['7 a.m.', '7 AM'],
      ['No Solution', 'no solution'],
    ],
    different: [
      ['n', 'N'],
      ['\\text{n}', 'N'],
      ['xy', 'XY'],
      ['AB', 'ab'],
      ['abc', 'ABC'],
      ['x, y', 'X, Y'],
      ['2 x', '2 X'],
      ['I', 'i'],
    ],
  },
  'what multiplies is read as its value, or not at all': {
    equal: [
      ['300\\text{ K}', '300'],
      ['8.314\\text{ J/mol K}', '8.314'],
      ['18\\text{ thousand dollars}', '18000'],
      ['90\\text{ two-digit numbers}', '90'],
      ['5\\text{ MB}', '5'],
    ],
    different: [
      ['18\\text{ Kdollars}', '18'],
      ['18\\text{ kilodollars}', '18'],
      ['18\\text{ milliard}', '18'],

      ['18\\text{ K dollars}', '18'],
      ['18\\text{ K}\\text{ dollars}', '18'],
      ['\\$18\\text{ K}', '18'],
      ['18\\text{ K people}', '18'],
      ['18\\text{ k}', '18'],
      ['18\\text{ M}', '18'],
      ['18\\text{ mil}', '18'],
      ['18\\text{ million-dollar}', '18'],
      ['18 tenfold', '18'],
    ],
  },
  'an interval is open where it is infinite': {
    equal: [['\\mathbb{R}', '(-\\infty,\\infty)']],
    different: [
      ['\\mathbb{R}', '(-\\infty,\\infty]'],
      ['\\mathbb{R}', '[-\\infty,\\infty]'],
      ['(-\\infty,3]', '[-\\infty,3]'],
      ['x \\ge 3', '[3,\\infty]'],
    ],
  },
  'a degree sign': {
    equal: [
      ['45^\\circ', '\\frac{\\pi}{4}\\text{ radians}'],

      ['45^\\circ', '45'],
      ['45^\\circ', '\\frac{\\pi}{4}'],
      ['\\pi^\\circ', '\\frac{\\pi^2}{180}'],
      ['\\pi^\\circ', '\\pi°'],
      ['45', '45^\\circ F'],
      ['45\\text{ degrees Celsius}', '45^\\circ C'],
    ],
    different: [
      ['45^\\circ', '45\\text{ radians}'],

      ['\\frac{\\pi}{4}', '0.25\\pi^\\circ'],
      ['\\pi^\\circ', '\\pi'],
      ['45^\\circ', '45^\\circ F'],
      ['45^\\circ C', '45^\\circ F'],
      ['45^\\circ', '0.785'],
      ['45^\\circ F', '\\frac{\\pi}{4}'],
    ],
  },
  'whole numbers with hyphens': {
    equal: [
      ['5-3', '2'],
      ['100-20', '80'],
      ['2020-2000', '20'],
      ['555 - 1234', '-679'],
      ['555-1234', '555-1234'],
    ],
    different: [
      ['555-1234', '-679'],
      ['1-800-555', '-1354'],
      ['01-23', '-22'],
    ],
  },
  'an odd root of a negative number is the real one': {
    equal: [
      ['(-8)^{1/3}', '-2'],
      ['\\sqrt[3]{-8}', '-2'],
      ['(-8)^{2/3}', '4'],
      ['(-32)^{\\frac{1}{5}}', '-2'],
    ],
    different: [
      ['(-8)^{1/3}', '1+i\\sqrt{3}'],
      ['(-8)^{1/3}', '2'],
      ['(-4)^{1/2}', '-2'],
    ],
  },
  'unions of the same numbers': {
    equal: [
      ['\\{1\\}\\cup\\{2\\}', '\\{1,2\\}'],
      ['\\emptyset\\cup(1,2)', '(1,2)'],
      ['x\\le 5 \\text{ and } x>3', '3<x\\le 5'],

      ['[2,3]\\cup(3,5)', '[2,5)'],
      ['(1,3)\\cup(2,4)', '(1,4)'],
      ['(2,4)\\cup(0,1)\\cup(1,3)', '(0,1)\\cup(1,4)'],
      ['(-\\infty,2]\\cup(1,\\infty)', '\\mathbb{R}'],
      ['\\{2\\}\\cup(2,3)', '[2,3)'],
      ['[0,\\sqrt2]\\cup[\\sqrt2,\\sqrt5)', '[0,\\sqrt5)'],
      ['\\mathbb{R}\\setminus\\{2\\}', 'x\\ne 2'],
      ['\\mathbb{R}\\setminus\\{2,1\\}', '(-\\infty,1)\\cup(1,2)\\cup(2,\\infty)'],
      ['x\\le 3 \\text{ or } x>2', '\\mathbb{R}'],
      ['[a,b]\\cup[b,c]', '[b,c]\\cup[a,b]'],
    ],
    different: [
      ['x>5 \\text{ and } x<3', '(5,3)'],
      ['x>3 \\text{ and } y<5', '(3,5)'],
      ['x>3 \\text{ or } x<5', '(3,5)'],

      ['[2,3)\\cup(3,5)', '[2,5)'],
      ['[2,3]\\cup(3,5]', '[2,5)'],
      ['[0,\\sqrt2)\\cup(\\sqrt2,\\sqrt5)', '[0,\\sqrt5)'],
      ['[a,b]\\cup[b,c]', '[a,c]'],
      ['\\mathbb{R}\\setminus\\{2\\}', '\\mathbb{R}'],
      ['\\{2\\}\\cup(3,4)', '(3,4)'],
    ],
  },
  'chains of inequalities': {
    equal: [
      ['2<2x<6', '1<x<3'],
      ['2<2x<6', '(1,3)'],
      ['-6<-2x\\le -2', '1\\le x<3'],
      ['2\\le x+1<4', '[1,3)'],
      ['0<\\pi x<\\pi', '(0,1)'],
      ['1<x+1<2x', 'x>1'],
      ['2a<2b<2c', 'a<b<c'],
    ],
    different: [
      ['2<2x<6', '1<x\\le 3'],
      ['2<2x<6', '1<y<3'],
      ['2<2x<6', '2<x<6'],
      ['2<-2x<6', '1<x<3'],
      ['a<b<c', 'a<c<b'],
      ['1<x^2<4', '1<x<2'],
    ],
  },
  'the dotless letters i and j': {
    equal: [
      ['3\\imath', '3i'],
      ['2+3\\jmath', '2+3i'],
      ['3\\imath+4\\jmath', '3\\mathbf{i}+4\\mathbf{j}'],
      ['3\\hat{\\imath}', '3\\hat{i}'],
    ],
    different: [
      ['3\\imath+4\\jmath', '7i'],
      ['3\\imath', '3'],
    ],
  },
  'letters behind a number': {
    equal: [
      ['10m', '10\\text{ m}'],
      ['10 m/s', '10\\text{ m/s}'],
      ['12kW', '12\\text{ kW}'],
      ['10\\,\\mathrm{m}', '10'],
      ['\\frac{1}{2}\\mathrm{s}', '0.5'],
      ['5\\text{ h}', '5 hours'],
      ['5\\text{ sq ft}', '5\\text{ ft}^2'],
      ['3\\mathrm{i}', '3i'],
    ],
    different: [
      ['10m', '10'],
      ['12kW', '12'],
      ['10 m/s', '10\\text{ m}'],
      ['5\\text{ a}', '5'],
      ['5\\text{ab}', '5'],
      ['3\\text{x}', '3'],
    ],
  },
  'values of several names': {
    equal: [
      ['x=1,y=2', '1,2'],
      ['x=1,y=2', 'y=2,x=1'],
      ['x=1 \\text{ or } x=2', '2,1'],
    ],
    different: [['x=1,y=2', '2,1']],
  },
  'Greek letters': {
    equal: [
      ['α', '\\alpha'],
      ['2αβ', '2\\alpha\\beta'],
      ['θ=5', '\\theta=5'],
      ['sin θ', '\\sin\\theta'],
      ['Δ', '\\Delta'],
      ['μ', '\\mu'],
      ['5 μm', '5'],
    ],
    different: [
      ['Δ', 'δ'],
      ['α', 'a'],
      ['ω', 'w'],
    ],
  },
  'choose and over': {
    equal: [
      ['{10\\choose 3}', '120'],
      ['2{10\\choose 3}', '240'],
      ['{n+1\\choose 2}', '\\binom{n+1}{2}'],
      ['{1+2\\over 6}', '0.5'],
    ],
    different: [
      ['{10\\choose 3}', '\\frac{10}{3}'],
      ['{10\\choose 3}', '10'],
      ['{{10\\choose 3}\\choose 2', '7140'],
    ],
  },
  'colours, trailing marks and wide characters': {
    equal: [
      ['5\\ ', '5'],
      ['\\underline{5}', '5'],
      ['￥5', '5'],

      ['\\color{red}{5}', '5'],
      ['{\\color{red}5}', '5'],
      ['\\color[rgb]{1,0,0}{5}', '5'],
      ['\\textcolor{red}{5}', '5'],
      ['\\frac{\\color{blue}{1}}{2}', '0.5'],
      ['5;', '5'],
      ['5,', '5'],
      ['(1,2);', '(1,2)'],
      ['42\\\\', '42'],
      ['42\\;', '42'],
      ['５．', '5'],
      ['－４２', '-42'],
      ['（１，２）', '(1,2)'],
      ['｛１，２｝', '\\{1,2\\}'],
      ['５０％', '0.5'],
      ['𝟓', '5'],
      ['x²', 'x^2'],
    ],
    different: [
      ['￥5', '\\$5'],

      ['\\color{red}{5}', '6'],
      ['\\color{5}{}', '5'],
      ['5;6', '5'],
      ['42\\\\1', '42'],
      ['４２', '24'],
      ['5²', '52'],
    ],
  },
};

describe.each(Object.entries(RULES))('%s', (_, { equal, different }) => {
  it.each(equal)('%s is %s', (a, b) => {
    expect(sameAnswer(a, b)).toBe(true);
    expect(sameAnswer(b, a)).toBe(true);
  });

  it.each(different)('%s is not %s', (a, b) => {
    expect(sameAnswer(a, b)).toBe(false);
    expect(sameAnswer(b, a)).toBe(false);
  });
});

describe('keys for votes', () => {
  it.each([
    ['[2,3]\\cup(3,5)', '[2,5)'],
    ['2<2x<6', '1<x<3'],
    ['1,234', '1234'],
  ])('%s and %s share one', (a, b) => {
    expect(answerKey(a)).toBe(answerKey(b));
  });

  it.each([
    ['\\{\\{1\\}\\}', '\\{1\\}'],
    ['\\{\\emptyset\\}', '\\emptyset'],
    ['1,234', '234,1'],
    ['n', 'N'],
  ])('%s and %s do not', (a, b) => {
    expect(answerKey(a)).not.toBe(answerKey(b));
  });
});
