/**
 * Problems made up from words, for measurements and tests: stories with numbers, formulae, science, proofs and programming tasks, of varied
 * wording. Seeded; the same seed and place give the same problem. Their answers mean nothing.
 */
import { deriveSeed, Random } from '../random.js';

export type MadeKind = 'story' | 'formula' | 'science' | 'proof' | 'code';

export interface MadeProblem {
  readonly kind: MadeKind;
  /** Sentence by sentence; the last one asks. */
  readonly sentences: readonly string[];
}

export const MADE_KINDS: readonly MadeKind[] = ['story', 'formula', 'science', 'proof', 'code'];

/** Sentences joined by blanks. */
export const textOf = ({ sentences }: MadeProblem): string => sentences.join(' ');

export function madeProblem(seed: number, index: number, kind?: MadeKind): MadeProblem {
  const random = new Random(deriveSeed('made problem', seed, index));
  const chosen = kind ?? random.pick(MADE_KINDS);
  return { kind: chosen, sentences: MAKERS[chosen](random) };
}

/** The wording stays, only the numbers are others: `number` of rows with one template. */
export function templatedText(seed: number, index: number): string {
  const random = new Random(deriveSeed('templated', seed, index));
  const n = (low: number, high: number): number => random.int(low, high);
  return `A factory makes ${n(200, 9999)} lamps in the first week of the year and ${n(200, 9999)} lamps in the second week. Each lamp needs ${n(3, 60)} screws and ${n(2, 40)} metres of wire. How many screws does the factory need for both weeks together, if ${n(2, 97)} lamps of each week are thrown away before they are finished?`;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const NAMES =
  words(`Amara Bruno Chen Dalia Emeka Farid Greta Hanna Ivan Jorge Keiko Liam Mei Nadia Oskar Priya Quentin Rosa Samir Tova Uma Viktor
  Wanda Ximena Yusuf Zoe Anders Beatriz Carlos Dmitri Elena Fatou Gustav Hiro Ines Jamal Katya Lotte Marek Noor`);
const THINGS = words(`apples lanterns bricks ribbons candles marbles stamps kites books pencils oranges buttons baskets coins shells bottles
  tiles ropes chairs melons tickets postcards carrots jars cushions hammers blankets seeds muffins tulips pebbles scarves drums lemons
  puzzles whistles notebooks eggs pears spoons`);
const PLACES =
  words(`harbour market library bakery orchard museum station school workshop theatre garden farm stadium village warehouse castle
  hospital airport vineyard bridge monastery laboratory kitchen quarry lighthouse greenhouse`);
const PEOPLE =
  words(`teacher farmer sailor nurse baker painter gardener carpenter librarian pilot tailor driver potter engineer merchant weaver
  fisherman student guard musician`);
const ADJECTIVES =
  words(`red heavy wooden small painted cheap golden empty round broken striped fragile bright ancient polished narrow dusty
  silver tiny expensive`);
const DAYS = words('Monday Tuesday Wednesday Thursday Friday Saturday Sunday');
const VARIABLES = words('x y z t u v w s r');
const METALS = words('copper iron aluminium silver zinc nickel tungsten lead titanium brass');
const LIQUIDS = words('water ethanol glycerol mercury acetone benzene brine olive-oil');
const SHAPES = words('triangle quadrilateral pentagon trapezoid rhombus parallelogram hexagon');

function story(random: Random): string[] {
  const [one, two] = random.shuffle(NAMES) as [string, string];
  const [thing, other] = random.shuffle(THINGS) as [string, string];
  const place = random.pick(PLACES);
  const person = random.pick(PEOPLE);
  const adjective = random.pick(ADJECTIVES);
  const [a, b, c, d] = [random.int(12, 480), random.int(3, 60), random.int(2, 11), random.int(13, 95)];
  const opening = random.pick([
    `${one} works at the ${place} and has ${a} ${adjective} ${thing}.`,
    `At the ${place}, a ${person} named ${one} stacks ${a} ${thing} on a shelf.`,
    `There are ${a} ${adjective} ${thing} in a crate behind the ${place}.`,
    `On ${random.pick(DAYS)} ${one} buys ${a} ${thing} from a ${person}.`,
  ]);
  const middle = random.shuffle([
    random.pick([
      `${two} takes away ${b} of the ${thing} and leaves ${c} ${other} instead.`,
      `Later ${two} brings ${b} more ${thing} together with ${c} ${other}.`,
      `A ${random.pick(PEOPLE)} packs every ${c} ${thing} into a box with ${b} ${other}.`,
    ]),
    random.pick([
      `Each of the ${other} costs $${d}, and nobody pays with a card.`,
      `During the night ${d}% of everything in the ${random.pick(PLACES)} gets wet.`,
      `It takes ${d} minutes to carry one load across the ${random.pick(PLACES)}.`,
    ]),
  ]);
  const ask = random.pick([
    `How many ${thing} are left for ${one} at the end of the day?`,
    `What is the total cost of all ${other} that ${two} sees?`,
    `In how many different ways can ${one} divide the ${thing} among the visitors of the ${place}?`,
    `After how many hours will ${one} and ${two} be finished with the ${other}?`,
  ]);
  return [opening, ...middle, ask];
}

function formula(random: Random): string[] {
  const [x, y] = random.shuffle(VARIABLES) as [string, string];
  const n = (): number => random.int(2, 99);
  const opening = random.pick([
    `Let $${x}$ and $${y}$ be positive real numbers such that $${n()}${x} + ${n()}${y} = ${n()}$.`,
    `Suppose that the polynomial $P(${x}) = ${x}^3 - ${n()}${x}^2 + ${n()}${x} - ${n()}$ has three distinct roots.`,
    `Consider the sequence defined by $a_1 = ${n()}$ and $a_{k+1} = \\frac{a_k + ${n()}}{${n()}}$ for every $k \\ge 1$.`,
    `The function $f$ satisfies $f(${x} + ${y}) = f(${x}) \\cdot f(${y})$ for all integers, and $f(${random.int(2, 9)}) = ${n()}$.`,
    `In the coordinate plane the line through $(${n()}, ${n()})$ and $(${n()}, ${n()})$ meets the parabola $${y} = ${x}^2 - ${n()}$.`,
    `A circle of radius $${n()}$ is inscribed in a ${random.pick(SHAPES)} whose perimeter is $${n()}$ centimetres.`,
  ]);
  const extra = random.pick([
    `Assume further that $${x} \\neq ${y}$ and that $${n()} < ${x} + ${y} < ${random.int(100, 400)}$.`,
    `The number $${random.int(100, 999)}$ is not divisible by any of the quantities involved.`,
    `All angles are measured in degrees and every length is an integer of at most $${random.int(50, 500)}$.`,
    `Write $S$ for the sum of the first $${n()}$ squares that occur here.`,
  ]);
  const ask = random.pick([
    `Find the largest possible value of $${x}^2 + ${n()}${y}$.`,
    `Determine the remainder when the product of all solutions is divided by $${random.int(101, 997)}$.`,
    `What is the value of $\\sqrt{${x}^2 + ${n()}}$ in lowest terms?`,
    `Compute the number of ordered pairs $(${x}, ${y})$ that satisfy these conditions modulo $${n()}$.`,
    `Express the area of the shaded region as a common fraction with denominator $${n()}$.`,
  ]);
  return random.chance(0.6) ? [opening, extra, ask] : [opening, ask];
}

function science(random: Random): string[] {
  const [metal, other] = random.shuffle(METALS) as [string, string];
  const liquid = random.pick(LIQUIDS);
  const n = (low: number, high: number): number => random.int(low, high);
  const opening = random.pick([
    `A block of ${metal} with a mass of ${n(2, 90)} kg rests on a plane inclined at ${n(10, 60)} degrees.`,
    `A cylinder made of ${metal} is heated from ${n(5, 40)} to ${n(100, 400)} degrees Celsius in a sealed chamber.`,
    `A sample of ${n(10, 300)} grams of ${metal} dissolves completely in ${n(200, 900)} mL of ${liquid}.`,
    `Light of wavelength ${n(380, 700)} nm falls on a plate of ${metal} in a vacuum.`,
    `An electric current of ${n(2, 40)} amperes flows through a wire of ${metal} that is ${n(3, 80)} metres long.`,
  ]);
  const extra = random.pick([
    `The coefficient of friction between ${metal} and ${other} is 0.${n(11, 89)}.`,
    `The vessel holds ${n(2, 19)} litres of ${liquid} at a pressure of ${n(90, 130)} kPa.`,
    `Its specific heat is 0.${n(101, 899)} J per gram and kelvin, and ${n(3, 30)}% of the energy is lost to the surroundings.`,
    `A second probe of ${other}, ${n(2, 9)} times as thick, is connected in series.`,
  ]);
  const ask = random.pick([
    'Calculate the acceleration in metres per second squared and round to two decimals.',
    `What is the final temperature of the ${liquid} after equilibrium has been reached?`,
    'Estimate the energy, in joules, that is needed for the whole process.',
    `By what factor does the resistance change when ${other} replaces the ${metal}?`,
    'Determine the kinetic energy of the fastest electrons that leave the surface.',
  ]);
  return [opening, extra, ask];
}

function proof(random: Random): string[] {
  const [p, q, r] = random.shuffle(words('A B C D E F G H K M N P Q')) as [string, string, string];
  const [shape, another] = random.shuffle(SHAPES) as [string, string];
  const [person, helper] = random.shuffle(PEOPLE) as [string, string];
  const [thing, other] = random.shuffle(THINGS) as [string, string];
  const [place, elsewhere] = random.shuffle(PLACES) as [string, string];
  const [one, two] = random.shuffle(NAMES) as [string, string];
  const [adjective, second] = random.shuffle(ADJECTIVES) as [string, string];
  const opening = random.pick([
    `Let ${p}, ${q} and ${r} be points on the boundary of a convex ${shape} that the ${person} drew on the floor of the ${place}.`,
    `The tiles of the ${place} form a grid, coloured ${adjective} and ${second} so that neighbours of a ${shape} never look alike.`,
    `Let ${p} be the set of all ${adjective} ${thing} in the ${place}, and let ${q} be those which ${one} may touch.`,
    `A ${shape} made of ${random.pick(METALS)} is cut along a line that meets the ${another} of ${one} in the point ${r}.`,
    `The ${person} and the ${helper} take turns to remove ${thing} from a pile in the ${place}.`,
    `Every ${person} of the ${place} knows an odd amount of ${adjective} ${thing} by heart, and so does ${one}.`,
  ]);
  const extra = random.pick([
    `Denote by ${r}' the reflection of ${r} in the border between the ${elsewhere} and the ${second} ${other}.`,
    `Whoever cannot find any ${other} loses, and ${two} from the ${elsewhere} always begins.`,
    `Assume that the bisector at ${p} is perpendicular to the ${second} wall which the ${helper} built behind the ${elsewhere}.`,
    `No ${second} ${other} may be chosen two times in a row, not even by ${two}.`,
    `Nothing is known about the ${other} of the ${helper}, except that none of them is ${second}.`,
  ]);
  const ask = random.pick([
    `Decide whether ${one}, ${two} and the ${helper} can share the ${other} fairly, and justify your claim.`,
    `Who has a winning strategy when ${two} hides the ${adjective} ${other}, and what does it look like?`,
    `Show that the paths of all ${thing} from the ${place} to the ${elsewhere} cross each other whenever the ${helper} is away.`,
    `Find all configurations of ${other} for which a ${another} can be drawn with compass alone.`,
    `Is the number of ${second} ${thing} at the ${elsewhere} necessarily even?`,
  ]);
  return [opening, extra, ask];
}

function code(random: Random): string[] {
  const thing = random.pick(THINGS);
  const place = random.pick(PLACES);
  const [one, two] = random.shuffle(NAMES) as [string, string];
  const limit = random.pick([1000, 100000, 200000, 1000000, 500, 5000]);
  const numbers = Array.from({ length: random.int(4, 7) }, () => random.int(1, 99));
  return [
    random.pick([
      `${one} arranges ${thing} in a row at the ${place}, and each of them has an integer weight.`,
      `You are given a string that describes how ${one} walks through the ${place} collecting ${thing}.`,
      `The ${place} has rooms connected by corridors, and ${two} hides ${thing} in some of the rooms.`,
      `A robot in the ${place} sorts ${random.pick(ADJECTIVES)} ${thing} by swapping neighbours.`,
    ]),
    random.pick([
      `In one operation ${two} may remove two adjacent ${thing} whose weights differ by at most ${random.int(2, 9)}.`,
      `A segment is called ${random.pick(ADJECTIVES)} if its sum is divisible by ${random.int(3, 97)}.`,
      `Moving from room i to room j takes |i - j| * ${random.int(2, 50)} seconds.`,
      `Every prefix must contain at least ${random.int(2, 9)} letters that occur later as well.`,
    ]),
    `The first line of the input contains n (1 <= n <= ${limit}); the second line contains n integers.`,
    random.pick([
      `Print the minimum number of operations after which the ${thing} form a palindrome.`,
      `Output the length of the longest ${random.pick(ADJECTIVES)} segment, or -1 if there is none.`,
      `Print the sum of the travel times of all pairs of ${thing}, modulo 998244353.`,
      `For each query print YES if ${one} reaches the exit of the ${place} and NO otherwise.`,
    ]),
    `For example, for the input ${numbers.join(' ')} the answer is ${random.int(1, 400)}.`,
  ];
}

const MAKERS: Readonly<Record<MadeKind, (random: Random) => string[]>> = { story, formula, science, proof, code };
