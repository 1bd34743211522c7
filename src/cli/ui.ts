/** `toolwise ui`: parses, starts the dashboard's server, says where it is, ends on SIGINT. */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../userError.js';

interface Options {
  readonly port: string;
  readonly host: string;
  readonly open?: boolean;
}

export function register(program: Command): void {
  program
    .command('ui')
    .description('show runs in the browser: curves, rollouts, tokens, live while they train')
    .argument('[folder]', 'the folder whose runs are shown, at any depth', 'runs')
    .option('--port <number>', 'the port to listen on; 0 takes any that is free', '7860')
    .option('--host <address>', 'the address to listen on; any but this machine asks for a token', '127.0.0.1')
    .option('--open', 'open the browser')
    .action(async (folder: string, options: Options) => show(folder, options));
}

async function show(folder: string, { host, port, open = false }: Options): Promise<void> {
  const number = Number(port);
  if (!Number.isInteger(number) || number < 0 || number > 65_535) throw new UserError(`--port ${port}: a number from 0 to 65535 is needed`);
  const root = resolve(folder);
  if (!existsSync(root) || !statSync(root).isDirectory()) {
    throw new UserError(`There is no folder ${root}.`, 'Name the folder that holds your runs, as it was given to --out, or one above it.');
  }
  const [{ assetsFolder, Assets }, { serveDashboard }] = await Promise.all([
    import('../dashboard/server/assets.js'),
    import('../dashboard/server/serve.js'),
  ]);
  const page = new Assets(assetsFolder());
  if (page.missing)
    console.error(`The page has not been built, so only its data is served: run "npm run build" in the folder of the sources.`);
  const served = await serveDashboard({ folder: root, host, port: number });
  if (served.token !== undefined)
    console.error(`Anyone who can reach ${host} and has the token in this address can read everything in ${root}; it travels unencrypted.`);
  console.log(served.address);
  if (open) openBrowser(served.address);
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
  await served.close();
}

function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open'];
  const child = spawn(command!, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => console.error('No browser could be opened: open the address yourself.'));
  child.unref();
}
