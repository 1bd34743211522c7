/** All of the set-up in one call, repeatable without harm: Python environment, weights, sandbox. */
import { type Extra, ensurePythonEnv } from './pythonEnv.js';
import { ensureSandboxNeeds } from './sandboxNeeds.js';
import { type ResolvedModel, resolveModel } from './weights.js';

export interface SetUpOptions {
  readonly models: readonly string[];
  readonly log: (line: string) => void;
  readonly extras?: readonly Extra[];
  /** Default true. */
  readonly sandbox?: boolean;
}

/** @throws UserError for what the user has to mend */
export async function setUp(options: SetUpOptions): Promise<ResolvedModel[]> {
  const { log } = options;
  await ensurePythonEnv({ log, extras: options.extras ?? [] });
  const models: ResolvedModel[] = [];
  for (const name of options.models) models.push(await resolveModel(name, { log }));
  // Last: without root it can only say what to run, and the rest is done by then.
  if (options.sandbox !== false) await ensureSandboxNeeds(log);
  return models;
}
