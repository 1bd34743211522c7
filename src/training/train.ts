/** A whole training run: opens what it needs, goes through the stages of its recipe, and keeps everything in the run's folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { agentOf, nameOf, openAgent, recipeWithAgent } from '../agents/openAgent.js';
import { broadcast } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { type Report, writeReport } from '../evaluation/report.js';
import { openReferenceGrader } from '../grading/referenceGrader.js';
import { openProblemGrader } from '../reward/problemGrader.js';
import type { RunWriter } from '../runs/writer.js';
import { runFolder, withRun } from '../session/withRun.js';
import { TrackerHub } from '../trackers/hub.js';
import type { RunOutcome } from '../trackers/tracker.js';
import { UserError } from '../userError.js';
import { refreshTarget } from './refresh.js';
import { checkRecipe } from './requirements.js';
import { TrainingRun } from './trainingRun.js';
import { fitting, graderOf, loadData, recipeOf, refuseChanges, scoringOf, type TrainOptions } from './trainOptions.js';

export type { TrainOptions } from './trainOptions.js';

export interface TrainResult {
  readonly folder: string;
  readonly report: Report;
  /** The end of the last stage; loads with `samplerFrom` or `--resume`. */
  readonly checkpoint?: string;
}

/**
 * Trains as the recipe says.
 *
 * @throws UserError for what the user can mend, before anything is computed where possible
 * @throws EngineStopped when the engine died twice; the run can be resumed
 * @throws the signal's reason when it is aborted; the run can be resumed
 */
export async function train<P extends Problem = Problem>(options: TrainOptions<P>): Promise<TrainResult> {
  const asked = await recipeOf(options);
  const agent = agentOf(options.agent, asked);
  const recipe = agent ? recipeWithAgent(asked, options) : asked;
  const { resume = false, acceptChanges = false, tools, environment, onEvent } = options;
  const signal = options.signal ?? new AbortController().signal;
  const log = options.log ?? (() => undefined);
  const folder = runFolder(options.out, recipe.name);
  if (resume) refuseChanges(folder, recipe, acceptChanges, log);
  else if (existsSync(join(folder, 'run.sqlite')))
    throw new UserError(`${folder} holds a run already`, 'Go on with --resume, or choose another --out.');
  const loaded = await loadData(options, recipe);
  const target = await refreshTarget(recipe);

  return withRun(
    {
      recipe,
      folder,
      resume,
      ...(tools && { tools }),
      ...(agent && { extra: { agent: nameOf(agent as Agent<never>) } }),
      ...(environment && { environment }),
      log,
      onEvent,
      signal,
      prepare: (session) => {
        for (const line of checkRecipe(recipe, session.engine.capabilities)) log(line, 'warning');
        // An agent's prompts are known when it asks.
        return agent ? loaded : fitting(loaded, session);
      },
    },
    async ({ session, writer, sink, input: data }) => {
      if (resume && acceptChanges) writer.updateInfo({ recipe }, 'resumed with a changed recipe');
      options.onFolder?.(folder);
      const warn = (text: string): void => log(text, 'warning');
      const trackers = new TrackerHub(options.trackers ?? [], { folder, info: writer.info, resumed: resume }, { warn });
      const sandbox = { runner: session.runner, sandbox: recipe.sandbox.kind };
      const byKind = openProblemGrader(sandbox);
      const inTraining = recipe.rl?.reward.grader === 'reference' ? openReferenceGrader(sandbox) : byKind;
      let outcome: RunOutcome = { kind: 'interrupted' };
      const open = agent && (await openAgent(agent, { modelId: session.model.name, log }));
      try {
        const scoring = scoringOf(options, recipe, inTraining.grader);
        const grader = graderOf(options, byKind.grader);
        const told = broadcast(sink, trackers.sink);
        const parts = {
          recipe,
          session,
          writer,
          sink: told,
          data,
          scoring,
          grader,
          options,
          signal,
          log,
          ...(target && { target }),
          ...(open && { agent: open.on }),
        };
        await new TrainingRun(parts).toTheEnd();
        const report = writeReport(folder);
        outcome = endOf(report);
        const checkpoint = writer.checkpoints().at(-1)?.path;
        return { folder, report, ...(checkpoint !== undefined && { checkpoint }) };
      } catch (error) {
        if (!signal.aborted) {
          outcome = { kind: 'failed', error: error instanceof Error ? error.message : String(error) };
          noteFailure(writer, outcome.error);
        }
        throw error;
      } finally {
        await open?.close();
        await byKind.close();
        if (inTraining !== byKind) await inTraining.close();
        await trackers.end(outcome);
      }
    },
  );
}

/** So that the folder says why the run ended. A folder that cannot be written is a reason of its own, and does not hide the first one. */
function noteFailure(writer: RunWriter, error: string): void {
  try {
    writer.sink({ kind: 'note', level: 'warning', text: `the run failed: ${error}` });
  } catch {
    // The error itself is thrown.
  }
}

/** What trackers are told at the end: the accuracy of the last stage that was evaluated. */
function endOf({ stages }: Report): RunOutcome {
  const accuracy = (stages.rl ?? stages.sft ?? stages.base)?.accuracy;
  return { kind: 'ended', ...(accuracy != null && { accuracy }) };
}
