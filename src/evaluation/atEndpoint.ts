/** Evaluates a model behind an OpenAI-compatible endpoint, and keeps a run of it. */
import { setMaxListeners } from 'node:events';
import { broadcast } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { RunWriter } from '../runs/writer.js';
import { openEndpointPolicy } from '../session/endpointPolicy.js';
import { packageVersion } from '../session/versions.js';
import { type Evaluation, extraOf, measure } from './benchmarkRun.js';
import type { EvaluationResult } from './evaluate.js';

/** @throws UserError when the endpoint cannot be used as it is named */
export async function atEndpoint<P extends Problem>(evaluation: Evaluation<P>): Promise<EvaluationResult<P>> {
  const { options, recipe, folder, problems, log, signal } = evaluation;
  setMaxListeners(0, signal);
  const { model, tools, environment, endpoint } = options;
  const policy = await openEndpointPolicy({ model, recipe, tools, environment, endpoint, log, signal });
  const { name, abilities, agent, runner, concurrency } = policy;
  const { url } = policy.endpoint.client;
  let writer: RunWriter | undefined;
  try {
    writer = RunWriter.create(folder, {
      recipe,
      model: { name, source: `endpoint ${url}` },
      versions: { toolwise: packageVersion(), node: process.version, engine: `endpoint ${url}` },
      seed: recipe.seed,
      extra: { endpoint: abilities, sandbox: runner?.name ?? 'not used', ...extraOf(evaluation) },
    });
    const sink = broadcast(writer.sink, options.onEvent ?? (() => undefined));
    return await measure(evaluation, { answerer: { agent }, problems, runner, lockstep: false, concurrency, sink });
  } finally {
    writer?.close();
    await policy.close();
  }
}
