import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { OUTCOME_TEXT } from './claimText.js';
import { checkSchema, endpointSchema } from './endpoint.js';
import { claimSchema, planOf, planSchema } from './plan.js';

const page = readFileSync(new URL('../../docs/studies.md', import.meta.url), 'utf8');

/** Of every map in a schema, at any depth; names that the user chooses are none. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(keysOf);
  const { properties, ...rest } = schema as { properties?: object };
  return [...Object.keys(properties ?? {}), ...Object.values(properties ?? {}).flatMap(keysOf), ...Object.values(rest).flatMap(keysOf)];
}

describe('the page on studies', () => {
  it('names every key of a plan, of a claim, of an endpoint and of a check', () => {
    const schemas = [planSchema, claimSchema, endpointSchema, checkSchema];
    const keys = new Set(schemas.flatMap((schema) => keysOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))));
    expect([...keys]).toEqual(expect.arrayContaining(['blocks', 'differs', 'stepsTo', 'evaluation', 'atLeast', 'differBy']));
    const code = new Set([...page.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!));
    for (const key of keys) expect(code, key).toContain(key);
  });

  it('names every verdict', () => {
    for (const text of Object.values(OUTCOME_TEXT)) expect(page).toContain(`| ${text} |`);
  });

  it('shows a plan that can run, whose verdicts would not be exploratory', () => {
    const [text] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1]!);
    const plan = planOf(parse(text!), 'docs/studies.md');
    expect(plan).toMatchObject({ name: 'upper-bound', blocks: 8, notes: [] });
  });
});
