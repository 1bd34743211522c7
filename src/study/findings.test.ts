import { describe, expect, it } from 'vitest';
import { findings } from './findings.js';
import { fenced, markdown, markdownTable } from './markdown.js';
import type { StudyPlan } from './plan.js';
import { reportOf } from './report.js';
import { studyPage } from './reportPage.js';
import { byKey, madePlan, madeResults } from './testSupport.js';

const HOSTILE = '"\'><script>alert(1)</script> | **b** `c` [d](javascript:e) ![f](http://g) <!-- &amp;\n\n# h\n- i';
const NARROW = [0.8, 0.81, 0.82, 0.83, 0.84, 0.85];
const WIDE = [0.9, 0.92, 0.94, 0.96, 0.98, 1];

/** A plan in a folder is read as it stands: what a new one is refused for may be in it. */
const reportWith = (change: Partial<StudyPlan> = {}) => {
  const plan = { ...madePlan(), ...change };
  return reportOf('runs/study-clip', [plan], byKey(madeResults(plan, 'wide', WIDE), madeResults(plan, 'narrow', NARROW)));
};
const [claim] = madePlan().claims;
const hostile = reportWith({
  title: HOSTILE,
  claims: [
    {
      ...claim!,
      ...{ says: HOSTILE, paper: HOSTILE, fair: HOSTILE },
      parts: [
        { ...claim!.parts[0]!, why: HOSTILE },
        { ...claim!.parts[0]!, endpoint: { final: `accuracy ${HOSTILE}`, stage: 'rl', evaluation: HOSTILE } },
      ],
      checks: [{ arm: 'wide', mean: `train/${HOSTILE}`, from: 1, atLeast: 0 }],
    },
  ],
});

describe('the page of a study', () => {
  const page = studyPage(reportWith());

  it('shows a verdict in words, in colour and by a sign', () => {
    expect(page).toContain('<span class="badge good">✓ supported</span>');
  });

  it('leads from the table to each claim', () => {
    const targets = [...page.matchAll(/href="([^"]*)"/g)].map((match) => match[1]!);
    expect(targets).toEqual(['#clip-accuracy']);
    expect(page).toContain('<section id="clip-accuracy">');
  });

  it('holds the numbers, the figures, the checks, the limits, the paper and the command', () => {
    for (const text of [
      '+12.5 [+10.5, +14.5] points',
      '95 [91.1, 98.9] points',
      '✓ holds',
      'train/clipHigh of narrow is 0.002; at least 0.001 is needed',
      '0.315 reaches at step 60',
      'one model of a million parameters',
      'npx toolwise study runs/study-clip/plans/clip.yaml --out runs/again-clip',
      'cpu a processor, cores 2, toolwise 0.1.0',
      '2026-11-20 to 2026-11-25',
      '1 to 6',
    ])
      expect(page, text).toContain(text);
    expect(page.match(/<svg viewBox/g)).toHaveLength(2);
  });

  it('escapes what a plan says, asks for nothing and runs nothing', () => {
    const markup = studyPage(hostile);
    const tags = markup.match(/<[^>]*>/g)!;
    expect(tags.filter((tag) => /^<(?:script|img|link|iframe|object|embed|form|base)/i.test(tag))).toEqual([]);
    expect(tags.filter((tag) => /\s(?:src|action|on\w+)\s*=/i.test(tag.replace(/"[^"]*"/g, '""')))).toEqual([]);
    expect(tags.filter((tag) => /\shref="(?!#)/.test(tag))).toEqual([]);
    expect(markup).toContain('&lt;script&gt;alert(1)');
  });
});

describe('findings in Markdown', () => {
  const { text, figures } = findings(reportWith(), 'findings-figures');

  it('hold verdict, numbers, checks, limits and the command', () => {
    for (const part of [
      '| a higher upper bound ends higher | **supported** | +12.5 \\[+10.5, +14.5\\] points | 5 | 6 | &lt; 0.001 |',
      '## a higher upper bound ends higher',
      '| `wide` | 95 \\[91.1, 98.9\\] points | 6 | 0 | 0 | 6,000 | 6 min |',
      '- holds: train/clipHigh of narrow is 0.002; at least 0.001 is needed',
      'Limits: one model of a million parameters',
      '```sh\nnpx toolwise study runs/study-clip/plans/clip.yaml --out runs/again-clip\n```',
    ])
      expect(text, part).toContain(part);
  });

  it('name each of their figures, and no other', () => {
    const named = [...text.matchAll(/!\[[^\]]*\]\(findings-figures\/([^)]*)\)/g)].map((match) => match[1]!);
    expect(named).toEqual(['clip-accuracy-blocks.svg', 'clip-accuracy-steps.svg']);
    expect([...figures.keys()]).toEqual(named);
    for (const svg of figures.values()) expect(svg).toMatch(/^<svg xmlns=/);
  });

  it('show what a plan says as text', () => {
    const { text: page, figures: files } = findings(hostile, 'f');
    const outside = page.replace(/^```[\s\S]*?^```$/gm, '').replace(/!\[[^\n]*?\]\(f\/[\w.-]+\)/g, '');
    expect(outside).not.toMatch(/<(?!br>)/);
    expect(outside).not.toMatch(/(?<!\\)[[\]]/);
    expect(outside).not.toMatch(/http:\/\//);
    // Headings are ours: the title's, that of the noise, and one a claim.
    expect(outside.match(/^#+ /gm)).toHaveLength(3);
    for (const svg of files.values()) expect(svg).not.toContain('<script');
  });
});

describe('Markdown from a foreign text', () => {
  it.each([
    ['a | b', 'a \\| b'],
    ['**b** _c_ `d` ~e~ $f$', '\\*\\*b\\*\\* \\_c\\_ \\`d\\` \\~e\\~ \\$f\\$'],
    ['# h', '\\# h'],
    ['- item\n\n1. next', '\\- item 1. next'],
    ['1. first', '1\\. first'],
    ['1.5 points, -3 and +4', '1.5 points, -3 and +4'],
    ['---', '\\---'],
    ['<b>&lt;', '&lt;b&gt;&amp;lt;'],
    ['back\\slash', 'back\\\\slash'],
    ['see http://x.y and www.z', 'see http\\://x.y and www\\.z'],
    ['a\u0000b\u202ec', 'a\ufffdb\ufffdc'],
  ])('%j', (text, expected) => {
    expect(markdown(text)).toBe(expected);
  });

  it('has a fence that no code ends', () => {
    expect(fenced('sh', 'a\n```\nb')).toBe('````sh\na\n```\nb\n````');
  });

  it('is a table with its numbers to the right', () => {
    expect(
      markdownTable(
        [
          ['a', 'b'],
          ['c', 1],
        ],
        [1],
      ),
    ).toBe('| a | b |\n|---|---:|\n| c | 1 |');
  });
});
