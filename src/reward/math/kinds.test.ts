import { describe, expect, it } from 'vitest';
import { answerKey, checkGold, gradeAnswer, sameAnswer } from './gradeAnswer.js';

type Pairs = readonly (readonly [string, string])[];

const EQUAL: Readonly<Record<string, Pairs>> = {
  numbers: [
    ['0.\\overline{142857}', '1/7'],
    ['2^{-3}', '0.125'],
    ['\\frac{1}{2004!}', '1/2004!'],
    ['5!!', '15'],
    ['\\binom{10}{3}', '120'],
    ['3 \\text{ million}', '3000000'],
    ['-1\\frac12', '-1.5'],
    ['\\lceil 3.2 \\rceil', '4'],
    ['\\gcd(12, 18)', '6'],
    ['\\sum_{k=1}^{100} k', '5050'],
    ['\\begin{vmatrix}1&2\\\\3&4\\end{vmatrix}', '-2'],
    ['3 - -2', '5'],
  ],
  'irrational and complex numbers': [
    ['\\sqrt{12}', '2\\sqrt3'],
    ['\\sqrt[3]{-8}', '-2'],
    ['\\frac{1}{\\sqrt{2}+1}', '\\sqrt2-1'],
    ['\\sqrt{3+2\\sqrt2}', '1+\\sqrt2'],
    ['\\sin 30^\\circ', '1/2'],
    ['\\cos\\frac{\\pi}{5}', '\\frac{1+\\sqrt5}{4}'],
    ['4\\arctan\\frac15-\\arctan\\frac1{239}', '\\pi/4'],
    ['\\ln 8', '3\\ln 2'],
    ['\\log 100', '2'],
    ['\\log_{4} 8', '3/2'],
    ['e^{\\ln 5}', '5'],
    ['(1+i)^8', '16'],
    ['\\sqrt{-9}', '3i'],
    ['e^{2\\pi i/3}', '-\\frac12+\\frac{\\sqrt3}{2}i'],
    ['|5-12i|', '13'],
    ['90^\\circ', '\\frac{\\pi}{2}'],
    ['\\frac{e^{1}-e^{-1}}{2}', '\\sinh 1'],
  ],
  'expressions in variables': [
    ['(x+1)(x-1)', 'x^2-1'],
    ['\\frac{x}{2}+\\frac{x}{3}', '5x/6'],
    ['\\sqrt{x^2}', '|x|'],
    ['\\sin^2 x+\\cos^2 x', '1'],
    ['\\frac{n!}{(n-2)!}', 'n(n-1)'],
    ['\\binom{n}{2}', '\\frac{n^2-n}{2}'],
    ['x^{1/3}', '\\sqrt[3]{x}'],
    ['2^{n}\\cdot 3^{n}', '6^n'],
    ['\\ln(x^3)', '3\\ln x'],
    ['f(2x)', 'f(x \\cdot 2)'],
    ['(x+y)^{30}', '((x+y)^{15})^2'],
  ],
  'equations and inequalities': [
    ['x=5', '5'],
    ['5', 'x = 5'],
    ['y=2x+1', '2x-y+1=0'],
    ['x=5', '2x=10'],
    ['\\sqrt2 x=2', 'x=\\sqrt2'],
    ['f(x)=x^2', 'x^2'],
    ['x > 3', '(3,\\infty)'],
    ['-2x<6', 'x>-3'],
    ['0 \\le x < 1', '[0,1)'],
    ['x\\in(0,1)\\cup(2,3)', '0<x<1 \\text{ or } 2<x<3'],
    ['\\{x \\mid x>3\\}', '(3,\\infty)'],
  ],
  'sets, lists, tuples and matrices': [
    ['\\{1,1,2\\}', '\\{2,1\\}'],
    ['x=1,2', '2,1'],
    ['x=1 \\text{ or } x=-\\frac12', '-0.5, 1'],
    ['x=\\pm\\sqrt2', '\\sqrt2,-\\sqrt2'],
    ['(x,y)=(1,2)', '(1,2)'],
    ['\\langle 1,2,3\\rangle', '(1,2,3)'],
    ['\\begin{pmatrix}1\\\\2\\end{pmatrix}', '(1,2)'],
    ['2\\begin{pmatrix}1&0\\\\0&1\\end{pmatrix}', '[[2,0],[0,2]]'],
    ['100, 200', '200, 100'],
  ],
  'units and marks': [
    ['5 \\text{ square meters}', '5 m^2'.replace(' m', '\\text{ m}')],
    ['60 \\text{ miles per hour}', '60 mph'],
    ['3 \\text{ feet}', '3 ft'],
    ['\\$1,000.50', '1000.5 dollars'],
    ['9.8\\,\\frac{\\text{m}}{\\text{s}^2}', '9.8\\text{ m/s}^2'],
    ['12 percent', '0.12'],
    ['5 USD', '\\$5'],
    ['₹50', '50'],
    ['10^-4 eV', '10^{-4}'],
  ],
  'repeating decimals in brackets': [
    ['0.(3)', '\\frac13'],
    ['0.1(6)', '\\frac16'],
    ['3.(142857)', '\\frac{22}{7}'],
  ],
  'braces that may be left out': [
    ['1011_2', '1011_{2}'],
    ['x\\equiv1\\pmod{3}', 'x \\equiv 1 \\pmod 3'],
    ['\\mathbb R\\setminus\\{0\\}', '(-\\infty,0)\\cup(0,\\infty)'],
    ['\\{2k:k\\in\\mathbb Z\\}', '\\{ 2k : k \\in \\mathbb{Z} \\}'],
    ['3\\hat i', '3\\hat{i}'],
    ['0.\\overline 3', '\\frac13'],
  ],
  'words set as text': [
    ['\\text{Red}', 'red'],
    ['\\text{pi}', '\\pi'],
  ],
};

const DIFFERENT: Readonly<Record<string, Pairs>> = {
  'logarithms of another base': [
    ['\\log 2', '\\log_{e} 2'],
    ['\\log x', '\\log_e x'],
    ['y=\\log x', 'y=\\ln x'],
  ],
  'words are no products': [
    ['\\text{cat}', '\\text{act}'],
    ['red', 'der'],
    ['\\text{xy}', 'yx'],
  ],
  'repeating decimals are no products': [
    ['0.(3)', '0'],
    ['0.1(6)', '0.6'],
    ['3.(3)', '9'],
  ],
  'a space makes two numbers of one': [
    ['1.5', '1 .5'],
    ['1.5', '1. 5'],
    ['1,234', '1, 234'],
    ['1,234, 5', '1, 234, 5'],
  ],
  'functions of other variables': [
    ['f(x,y)=x-y', 'f(y,x)=x-y'],
    ['f(x)=x+1', 'f(y)=x+1'],
  ],
  'braces that say what is taken': [
    ['x_{1}2', 'x_{12}'],
    ['1011_2', '1011_{3}'],
    ['\\vec vw', '\\vec{vw}'],
  ],
  'functions with branches': [
    ['20-x', '|x-20|'],
    ['1000000-x', '|x-1000000|'],
    ['x+30', '\\sqrt{(x+30)^2}'],
    ['400-x^2', '|x^2-400|'],
    ['|2x-3|', '|x-1|+|x-2|'],
    ['x', '\\max(x,-100)'],
    ['x^2', '\\min(x^2,1000)'],
    ['|x+y|', '|x|+|y|'],
    ['xy', '\\sqrt{x^2y^2}'],
    ['x=28', '|x-30|=2'],
    ['15-x<2', '|x-15|<2'],
  ],
  'words that are not what is counted': [
    ['18 per cent', '18'],
    ['18\\text{ pct}', '18'],
    ['18 lakh', '18'],
    ['18 doubled', '18'],
    ['18\\text{ twenty}', '18'],
    ['18 wrong', '18'],
    ['18\\text{ i}', '18'],
  ],
  'capitals of units': [
    ['10\\text{ Mg}', '10\\text{ mg}'],
    ['10\\text{ mW}', '10\\text{ MW}'],
  ],
  'dates with a year': [
    ['2017', '2020-01-02'],
    ['2020-02-01', '2020-01-02'],
    ['-2015', '10-5-2020'],
    ['1/4040', '1/2/2020'],
  ],
  numbers: [
    ['1/2004!', '1/2006!'],
    ['10^{-400}', '0'],
    ['1+10^{-400}', '1'],
    ['0.33333333333333333333', '1/3'],
    ['3.14', '\\pi'],
    ['7!', '7'],
    ['9^{9^{9}}', '9^{9^{9}}+1'],
    ['100000!', '99999!'],
    ['1e400', '1e401'],
    ['1011_2', '1011'],
    ['3 \\pmod 5', '3'],
    ['3\\text{ or more}', '3'],
    ['5 million', '5'],
    ['2 dozen', '2'],
  ],
  'irrational and complex numbers': [
    ['\\sqrt{204^2+e^{-1000}}', '204'],
    ['204+e^{-1000}', '204'],
    ['1+\\pi\\cdot 10^{-300}', '1'],
    ['e^{\\pi\\sqrt{163}}', '262537412640768744'],
    ['\\sqrt{2}+\\sqrt{3}', '\\sqrt{10}'],
    ['\\ln 2', '\\log 2'],
    ['i', '-i'],
    ['\\sqrt{-1}', '1'],
    ['\\cos 1', '\\cos 1^\\circ'],
    ['\\log_2 3', '\\log_3 2'],
    ['\\lfloor -\\pi \\rfloor', '-3'],
  ],
  'expressions in variables': [
    ['\\sqrt{x^2}', 'x'],
    ['\\ln x^2', '2 \\ln x \\ln x'],
    ['\\ln|x|', '\\ln x'],
    ['\\sqrt{xy}', '\\sqrt{x}+\\sqrt{y}'],
    ['x+Y', 'X+y'],
    ['\\pi R^2', '\\pi r^2'],
    ['\\sin x', 'x'],
    ['x^{100}', 'x^{101}'],
    ['f(x)', 'g(x)'],
    ['f(x)', 'f(y)'],
    ['\\lfloor x \\rfloor', 'x'],
    ['(x+y+z)^{40}', '(x+y+z)^{40}+1'],
  ],
  'equations and inequalities': [
    ['x=5', 'y=5'],
    ['x=5', 'x=-5'],
    ['x=5', 'x^2=25'],
    ['x=5', 'x(x-5)=0'],
    ['x=5y', '5'],
    ['x>3', 'x<3'],
    ['x>3', 'y>3'],
    ['-2x<6', 'x<-3'],
    ['x>3', '3'],
    ['x\\ne 2', '2'],
    ['0=0', 'x=0'],
    ['1<x<3', '(1,3]'],
  ],
  'sets, lists, tuples and matrices': [
    ['1,2', '12'],
    ['100,200', '200, 100'],
    ['(1,2)', '\\{1,2\\}'],
    ['1,1,2', '1,2'],
    ['x=1,y=2', 'x=2,y=1'],
    ['\\{1,2\\}', '\\{1,3\\}'],
    ['\\begin{pmatrix}1&2\\end{pmatrix}', '\\begin{pmatrix}1\\\\2\\end{pmatrix}'],
    ['(1,2,3)', '(1,3,2)'],
    ['\\emptyset', '\\{0\\}'],
    ['[1,2)', '(1,2]'],
  ],
  'units, text and times': [
    ['5\\text{ m}', '5\\text{ m}^2'],
    ['5\\text{ kg}', '5\\text{ g}'],
    ['€5', '\\$5'],
    ['ABC', 'CBA'],
    ['no', 'on'],
    ['12:30', '12.30'],
    ['Alice and Bob', 'Bob'],
    ['not 5', '5'],
    ['5 or 6', '5, 6, 7'],
  ],
};

describe.each(Object.entries(EQUAL))('equal %s', (_, pairs) => {
  it.each(pairs)('%s is %s', (a, b) => {
    expect(sameAnswer(a, b)).toBe(true);
    expect(sameAnswer(b, a)).toBe(true);
  });
});

describe.each(Object.entries(DIFFERENT))('different %s', (_, pairs) => {
  it.each(pairs)('%s is not %s', (a, b) => {
    expect(sameAnswer(a, b)).toBe(false);
    expect(sameAnswer(b, a)).toBe(false);
  });
});

describe('keys for votes', () => {
  it.each([
    ['1/2', '0.50'],
    ['x=5', '5'],
    ['10\\text{ cm}', '10'],
    ['\\sqrt{8}', '2\\sqrt2'],
    ['\\{2,1\\}', '1, 2'],
    ['(x+1)^2', 'x^2+2x+1'],
    ['y-2x=1', '2x-y+1=0'],
    ['Yes', '\\text{yes}'],
    ['(1,2]', '(1, 2]'],
  ])('%s and %s share one', (a, b) => {
    expect(answerKey(a)).toBe(answerKey(b));
  });

  it.each([
    ['1/2', '1/3'],
    ['\\sqrt{8}', '\\sqrt{7}'],
    ['(x+1)^2', '(x-1)^2'],
    ['(1,2)', '(2,1)'],
    ['x>3', 'x<3'],
    ['yes', 'no'],
    ['1', '-1'],
    ['\\pi', '-\\pi'],
  ])('%s and %s do not', (a, b) => {
    expect(answerKey(a)).not.toBe(answerKey(b));
  });
});

describe('right answers that cannot be used', () => {
  it.each([
    '',
    '  ',
    '$$',
    '\\frac{1}{2',
    '1}',
    '{',
    '.',
    '\\frac{1}',
    '\\sqrt',
    '1/0',
    '\\frac{0}{0}',
    '\\begin{pmatrix}1',
    '5\\',
    '5\u0000',
  ])('%j is refused and met by nothing, itself included', (gold) => {
    expect(checkGold(gold)).toMatch(/\w+ \w+/);
    expect(gradeAnswer(gold, gold).correct).toBe(false);
  });

  it.each(['0', 'Tuesday', '12:00', '\\{\\}', '9^{9^{9}}', '\\$5', '\\int_0^1 x dx', 'x \\equiv 1 \\pmod 3', '1'.repeat(5000)])(
    '%s can be used',
    (gold) => {
      expect(checkGold(gold)).toBeUndefined();
      expect(gradeAnswer(gold, gold).correct).toBe(true);
    },
  );
});
