/** Evaluates a model behind an OpenAI-compatible endpoint: no engine and no weights of ours; tools and grading run here. */
import { setMaxListeners } from 'node:events';
import { systemText } from '../chat/prompts.js';
import { broadcast } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { describeAbilities, openEndpoint } from '../engine/openaiEndpoint.js';
import { endpointAgent } from '../rollout/endpointAgent.js';
import { RunWriter } from '../runs/writer.js';
import { openTools } from '../session/tools.js';
import { packageVersion } from '../session/versions.js';
import { type Evaluation, extraOf, measure } from './benchmarkRun.js';
import type { EvaluationResult } from './evaluate.js';

/** @throws UserError when the endpoint cannot be used as it is named */
export async function atEndpoint<P extends Problem>(evaluation: Evaluation<P>): Promise<EvaluationResult<P>> {
  const { options, recipe, folder, problems, log, signal } = evaluation;
  setMaxListeners(0, signal);
  const warn = (line: string): void => log(line, 'warning');
  const { toolbox, runner } = await openTools({ recipe, tools: options.tools ?? [], log, warn });
  let writer: RunWriter | undefined;
  let client: { close(): Promise<void> } | undefined;
  try {
    const { keyName, concurrency = 32 } = options.endpoint ?? {};
    const endpoint = await openEndpoint(options.model, { tools: toolbox.descriptions, keyName, concurrency, signal });
    client = endpoint.client;
    const abilities = describeAbilities(endpoint.abilities);
    log(`${endpoint.model} at ${endpoint.client.url}: ${abilities}`);
    if (!endpoint.abilities.toolCalls && toolbox.tools.length > 0)
      warn('The endpoint takes no tools: they are described in the system message, and calls are read from the text.');
    writer = RunWriter.create(folder, {
      recipe,
      model: { name: `openai:${endpoint.client.url}#${endpoint.model}`, source: `endpoint ${endpoint.client.url}` },
      versions: { toolwise: packageVersion(), node: process.version, engine: `endpoint ${endpoint.client.url}` },
      seed: recipe.seed,
      extra: { endpoint: abilities, sandbox: runner?.name ?? 'not used', ...extraOf(evaluation) },
    });
    const agent = endpointAgent({
      endpoint,
      tools: toolbox,
      limits: recipe.limits,
      system: systemText(recipe.prompt.mode, recipe.prompt.system),
      onWarning: warn,
    });
    const sink = broadcast(writer.sink, options.onEvent ?? (() => undefined));
    return await measure(evaluation, { answerer: { agent }, problems, runner, lockstep: false, concurrency, sink });
  } finally {
    writer?.close();
    await Promise.allSettled([client?.close(), runner?.close()]);
  }
}
