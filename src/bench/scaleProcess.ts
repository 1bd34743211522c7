/** One measurement of `scale.ts`, its task as JSON in the only argument; prints the figures as JSON. */
import { measureMemory, measureQueues, measureWire, type ScaleTask } from './scale.js';

const task = JSON.parse(process.argv[2]!) as ScaleTask;
const figures =
  task.kind === 'queue' ? await measureQueues(task) : task.kind === 'memory' ? await measureMemory(task) : await measureWire(task);
console.log(JSON.stringify({ ...figures, peakBytes: process.resourceUsage().maxRSS * 1024 }));
