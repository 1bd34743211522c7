/**
 * Keeps a session alive from a thread of its own, so that a busy main thread misses no beat. Tells the main thread when the server has
 * dropped the session, and when it has been silent for too long.
 */
import { parentPort, workerData } from 'node:worker_threads';

const { url, headers, body, everyMs, silenceMs } = workerData;
let lastHeard = performance.now();
let beating = false;

async function beat() {
  if (beating) return;
  beating = true;
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(3 * everyMs) });
    await answer.arrayBuffer();
    if (answer.status < 500) lastHeard = performance.now();
    if (answer.status === 404) parentPort.postMessage({ kind: 'dropped' });
  } catch {
    // Silence is measured below.
  } finally {
    beating = false;
  }
  const silent = performance.now() - lastHeard;
  if (silent > silenceMs) parentPort.postMessage({ kind: 'silent', seconds: Math.round(silent / 1000) });
}

const timer = setInterval(beat, everyMs);
parentPort.once('message', () => clearInterval(timer));
