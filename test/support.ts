/** What end-to-end tests share. */
import { inspectPythonEnv } from '../src/setup/pythonEnv.js';
import { findModel } from '../src/setup/weights.js';

/** Why a test with the real engine and sandbox cannot run here; undefined when it can. */
export async function missingForEndToEnd(model: string): Promise<string | undefined> {
  const python = inspectPythonEnv();
  if (python.kind !== 'ready') return `the engine is not installed: ${python.reason}`;
  try {
    if (findModel(model) === undefined) return `the weights of ${model} are not here`;
  } catch (error) {
    return (error as Error).message;
  }
  const { openCodeRunner } = await import('../src/sandbox/open.js');
  try {
    const runner = await openCodeRunner({ kind: 'auto', workers: 1 });
    await runner.close();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
