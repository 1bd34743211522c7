/**
 * TensorBoard: an event file in the run's folder, `tensorboard/`. A run that goes on writes its file anew from the run's store first, so
 * what was rolled back does not stay in the curves.
 */
import { appendFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Stage } from '../domain/event.js';
import { openRun } from '../runs/reader.js';
import { makeFolder } from '../userPath.js';
import { pointOf } from './hub.js';
import { scalarRecord, textRecord, versionRecord } from './tfevents.js';
import type { TrackedRun, Tracker, TrackerPoint } from './tracker.js';

/** @param options.folder where the event file goes; default `tensorboard` in the run's folder */
export function tensorboard(options: { readonly folder?: string } = {}): Tracker {
  let file = '';
  return {
    name: 'tensorboard',
    async start(run) {
      const folder = options.folder ?? join(run.folder, 'tensorboard');
      makeFolder(folder);
      const started = Date.now();
      const earlier = (await readdir(folder)).filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX));
      file = join(folder, `${PREFIX}${Math.floor(started / 1000)}.${hostname()}.${process.pid}${SUFFIX}`);
      const recipe = `\`\`\`yaml\n${stringify(run.info.recipe)}\`\`\``;
      const records = [
        versionRecord(started),
        textRecord(started, 'recipe', recipe),
        ...(run.resumed ? storedPoints(run).map(recordOf) : []),
      ];
      await writeFile(`${file}.new`, Buffer.concat(records));
      await rename(`${file}.new`, file);
      if (run.resumed) for (const name of earlier) if (join(folder, name) !== file) await rm(join(folder, name), { force: true });
    },
    async log(points) {
      await appendFile(file, Buffer.concat(points.map(recordOf)));
    },
    async end() {},
  };
}

const PREFIX = 'events.out.tfevents.';
const SUFFIX = '.toolwise';

const recordOf = ({ at, step, values }: TrackerPoint): Buffer => scalarRecord(at, step, values);

/** What the run's store holds, at the times when it was written. */
function storedPoints({ folder }: TrackedRun): TrackerPoint[] {
  const run = openRun(folder);
  try {
    const steps = (['base', 'sft', 'rl'] as const satisfies readonly Stage[]).flatMap((stage) => {
      const times = run.stepTimes(stage);
      return run.steps(stage).map(({ step, metrics }) => {
        const point = pointOf({ kind: 'stepEnded', stage, step, metrics })!;
        return { ...point, at: Date.parse(times.get(step) ?? '') || point.at };
      });
    });
    return [...steps, ...run.evaluations().map((record) => pointOf({ kind: 'evaluation', record })!)];
  } finally {
    run.close();
  }
}
