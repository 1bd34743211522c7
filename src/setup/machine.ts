/** What this machine has free: memory and disk, a container's limits counted. */
import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { dirname } from 'node:path';

/** Bytes that a process could still take. */
export function availableMemory(): number {
  const known = [process.availableMemory?.(), memAvailable(), cgroupHeadroom()].filter((bytes) => bytes !== undefined && bytes > 0);
  return known.length > 0 ? Math.min(...(known as number[])) : freemem();
}

function memAvailable(): number | undefined {
  const kilobytes = read('/proc/meminfo')?.match(/^MemAvailable:\s+(\d+) kB/m)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** A container's limit less what it uses without what the kernel can give back. */
function cgroupHeadroom(): number | undefined {
  const limit = Number(read('/sys/fs/cgroup/memory.max'));
  const used = Number(read('/sys/fs/cgroup/memory.current'));
  const reclaimable = Number(read('/sys/fs/cgroup/memory.stat')?.match(/^inactive_file (\d+)/m)?.[1] ?? 0);
  return Number.isFinite(limit) && Number.isFinite(used) && limit > 0 ? limit - used + reclaimable : undefined;
}

/** Free bytes where a folder is, or will be. */
export async function freeDisk(folder: string): Promise<number> {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  return bavail * bsize;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
