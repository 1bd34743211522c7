/** Chooses and opens a sandbox. `auto` never ends without one. */
import { UserError } from '../userError.js';
import type { CodeRunner } from './codeRunner.js';
import { installCommand } from './host.js';
import { openOneShotRunner } from './oneShotRunner.js';
import type { RunnerOptions } from './pooledRunner.js';
import { openUnsafeRunner } from './unsafeRunner.js';
import { openZygoteRunner } from './zygoteRunner.js';

export type SandboxKind = 'auto' | 'zygote' | 'oneshot' | 'none';

export interface OpenOptions extends RunnerOptions {
  readonly kind: SandboxKind;
}

/** A runner with what a person should know about it here: why it is a fallback, what it cannot enforce, which modules it lacks. */
export interface OpenedRunner extends CodeRunner {
  readonly notes: readonly string[];
}

/**
 * `auto`: the zygote, else one-shot bubblewrap with the reason in `notes`, else an error; never `none`, which has to be asked for by name.
 * @throws UserError saying what is missing and the command that installs it.
 */
export async function openCodeRunner(options: OpenOptions): Promise<OpenedRunner> {
  const { kind } = options;
  if (kind === 'none') return openUnsafeRunner(options);
  if (kind === 'oneshot') return explained(() => openOneShotRunner(options));
  if (kind === 'zygote') return explained(() => openZygoteRunner(options));
  let reason: string;
  try {
    return await openZygoteRunner(options);
  } catch (error) {
    if (error instanceof UserError) throw error;
    reason = messageOf(error);
  }
  const fallback = await explained(() => openOneShotRunner(options));
  const notes = [`a program costs a whole Python start, because the pre-warmed sandbox does not work here: ${reason}`, ...fallback.notes];
  return { name: fallback.name, notes, run: (request, signal) => fallback.run(request, signal), close: () => fallback.close() };
}

async function explained<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`the sandbox does not work on this machine: ${messageOf(error)}`, hintFor(messageOf(error)));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What to do about the refusals that are known, by what bubblewrap or the kernel says. */
export function hintFor(message: string): string {
  if (/setting up uid map|[Nn]o permissions to creat\w+ (a )?new namespace|clone: Operation not permitted|unshare/.test(message)) {
    return (
      'user namespaces are switched off. Ubuntu 24.04 and newer: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; ' +
      'Debian: sudo sysctl -w kernel.unprivileged_userns_clone=1; Docker: run the container with --security-opt seccomp=unconfined ' +
      '--security-opt systempaths=unconfined'
    );
  }
  if (/mount|proc/.test(message)) {
    return 'in a container, allow mounting /proc: docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined';
  }
  return `check that this works: bwrap --ro-bind / / --unshare-user --unshare-pid --proc /proc true; install with: ${installCommand}`;
}
