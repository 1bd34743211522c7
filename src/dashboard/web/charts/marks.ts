/** Links to evaluations and checkpoints at the foot of a chart; those too near to one another become one. Only elements and classes, no markup from text. */
import type uPlot from 'uplot';
import { safeLabel } from '../safeText.js';
import type { ChartMark } from './types.js';

const APART = 9;

export interface PlacedMark {
  readonly left: number;
  readonly marks: readonly ChartMark[];
}

/** Groups neighbours, from left to right; `at` gives a mark's place in pixels, undefined where it is out of sight. */
export function groupMarks(marks: readonly ChartMark[], at: (x: number) => number | undefined): readonly PlacedMark[] {
  const placed = marks.flatMap((mark) => {
    const left = at(mark.x);
    return left === undefined ? [] : [{ left, mark }];
  });
  placed.sort((a, b) => a.left - b.left);
  const groups: { left: number; marks: ChartMark[] }[] = [];
  for (const { left, mark } of placed) {
    const last = groups.at(-1);
    if (last !== undefined && left - last.left < APART) last.marks.push(mark);
    else groups.push({ left, marks: [mark] });
  }
  return groups;
}

export function placeMarks(u: uPlot, marks: readonly ChartMark[]): void {
  const { min, max } = u.scales.x!;
  const groups = groupMarks(marks, (x) => (min == null || max == null || x < min || x > max ? undefined : u.valToPos(x, 'x')));
  let box = u.over.querySelector<HTMLElement>('.marks');
  if (box === null) {
    box = document.createElement('div');
    box.className = 'marks';
    u.over.append(box);
  }
  while (box.children.length > groups.length) box.lastElementChild!.remove();
  for (const [i, { left, marks: members }] of groups.entries()) {
    let link = box.children[i] as HTMLAnchorElement | undefined;
    if (link === undefined) {
      link = document.createElement('a');
      // reached by keyboard in the lists below the charts
      link.tabIndex = -1;
      link.addEventListener('mousedown', (event) => event.stopPropagation());
      box.append(link);
    }
    const evaluation = members.find(({ kind }) => kind === 'evaluation');
    const className = `mark ${evaluation === undefined ? 'mark-checkpoint' : 'mark-evaluation'}`;
    if (link.className !== className) link.className = className;
    const { href } = evaluation ?? members[0]!;
    if (link.getAttribute('href') !== href) link.setAttribute('href', href);
    const title = safeLabel(members.map(({ label }) => label).join(' · ')).slice(0, 400);
    if (link.title !== title) {
      link.title = title;
      link.setAttribute('aria-label', title);
    }
    link.style.left = `${left}px`;
  }
}
