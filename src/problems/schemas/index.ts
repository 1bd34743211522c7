/** The schemas that are known, in the order in which a file is tried. */
import { UserError } from '../../userError.js';
import { dapoMath } from './dapoMath.js';
import { gsm8k } from './gsm8k.js';
import { megaScience } from './megaScience.js';
import { openAgentRl } from './openAgentRl.js';
import { openAgentRlEval } from './openAgentRlEval.js';
import { plain } from './plain.js';
import type { Schema } from './schema.js';
import { skywork } from './skywork.js';

export const SCHEMAS: readonly Schema[] = [dapoMath, skywork, openAgentRl, openAgentRlEval, megaScience, gsm8k, plain];

/** @throws UserError where there is none of that name */
export function findSchema(name: string): Schema {
  const found = SCHEMAS.find((schema) => schema.name === name);
  if (found !== undefined) return found;
  throw new UserError(`there is no schema ${JSON.stringify(name)}`, `There are: ${SCHEMAS.map(({ name }) => name).join(', ')}.`);
}
