/**
 * Tries to break out of a sandbox and says what held. A list of known attacks, not a proof. Never run against `none`: some attacks
 * would do harm there.
 */
import { createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import type { CodeResult, CodeRunner } from './codeRunner.js';
import { pythonEnvironment } from './host.js';

export interface ProbeResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

interface Attack {
  readonly name: string;
  readonly code: string;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
  /** Undefined if it held, else what went wrong. Default: the program must print `held` and nothing that begins with `open`. */
  readonly judge?: (result: CodeResult & { kind: 'ran' }) => string | undefined;
}

/** Shared by the attacks: `refused(f)` tells whether `f` failed, `syscall` calls the kernel past every library. */
const prelude = `
import ctypes, errno, os, platform, signal, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == 'aarch64'
def refused(name, action):
    try:
        value = action()
    except (OSError, ValueError) as error:
        print('held', name, errno.errorcode.get(getattr(error, 'errno', None), error))
    else:
        print('open', name, value)
def syscall(name, number, *arguments):
    def call():
        ctypes.set_errno(0)
        if libc.syscall(number, *arguments) == -1:
            raise OSError(ctypes.get_errno(), name)
    refused(name, call)
def processes():
    return [int(name) for name in os.listdir('/proc') if name.isdigit()]  # none where /proc could not be mounted
`;

const attacks = (context: { tcpPort: number; socketName: string; home: string }): readonly Attack[] => [
  {
    name: 'reach the network',
    code: `
def connect(family, kind, address):
    with socket.socket(family, kind) as s:
        s.settimeout(3)
        s.connect(address)
refused('internet', lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ('1.1.1.1', 53)))
refused('datagram', lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ('1.1.1.1', 53)))
refused('IPv6', lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ('2606:4700:4700::1111', 53)))
refused('a server of this machine', lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', ${context.tcpPort})))
refused('a socket of this machine', lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, '\\0' + ${JSON.stringify(context.socketName)}))`,
  },
  {
    name: 'open a socket past the network namespace',
    code: `
refused('vsock', lambda: socket.socket(40, socket.SOCK_STREAM))
refused('kernel crypto', lambda: socket.socket(38, socket.SOCK_SEQPACKET))
refused('raw packets', lambda: socket.socket(17, socket.SOCK_RAW))
refused('raw IP', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))`,
  },
  {
    name: 'write outside /tmp',
    code: `
for folder in ('/', '/usr', '/etc', '/dev', '/var/tmp', '/run', '/proc', '/sys', '/toolwise', os.path.dirname(sys.executable), os.path.dirname(os.__file__)):
    refused(folder, lambda: open(os.path.join(folder, 'toolwise-probe'), 'w'))`,
  },
  {
    name: 'read files of this machine',
    code: `
for path in ('/etc/shadow', '/etc/passwd', '/etc/hostname', '/root/.bashrc', '/proc/1/root/etc/shadow', '/proc/1/environ'):
    refused(path, lambda: open(path).read(40))
for folder in ('/home', '/root', '/var', '/sys', ${JSON.stringify(context.home)}):
    refused(folder, lambda: os.listdir(folder))`,
  },
  {
    name: 'read secrets of the environment',
    code: `
extra = set(os.environ) - set(${JSON.stringify(Object.keys(pythonEnvironment))}) - {'PWD', 'LC_CTYPE'}
print('open' if extra else 'held', sorted(extra))`,
  },
  {
    name: 'see processes of this machine',
    code: `
seen = processes()
print('held' if 0 < len(seen) < 6 and max(seen) < 1000 or not seen else 'open', seen)`,
  },
  {
    name: 'hold root or capabilities',
    code: `
kept = [number for number in range(40) if libc.prctl(23, number, 0, 0, 0) == 1]
print('open' if kept else 'held', 'capabilities', kept)
print('held' if libc.prctl(39, 0, 0, 0, 0) == 1 else 'open', 'no new privileges')
print('held' if libc.prctl(21, 0, 0, 0, 0) == 2 else 'open', 'system call filter')
print('held' if 0 not in (os.getuid(), os.geteuid()) else 'open', 'uid', os.getuid())
refused('setuid', lambda: os.setuid(0))
refused('chown', lambda: (open('/tmp/mine', 'w').close(), os.chown('/tmp/mine', 0, 0)))`,
  },
  {
    name: 'trace another process',
    code: `
trace = 117 if arm else 101
syscall('trace me', trace, 0, 0, 0, 0)
syscall('attach', trace, 16, 1, 0, 0)
syscall('read memory', 270 if arm else 310, 1, 0, 0, 0, 0, 0)
refused('memory of process 1', lambda: open('/proc/1/mem', 'rb').read(1))
refused('descriptors of process 1', lambda: os.listdir('/proc/1/fd'))`,
  },
  {
    name: 'mount',
    code: `
os.makedirs('/tmp/m', exist_ok=True)
syscall('mount', 40 if arm else 165, b'tmpfs', b'/tmp/m', b'tmpfs', 0, None)
syscall('remount', 40 if arm else 165, None, b'/', None, 32 | 4096, None)
syscall('unmount', 39 if arm else 166, b'/tmp', 2)
syscall('pivot_root', 41 if arm else 155, b'/tmp', b'/tmp')
syscall('chroot', 51 if arm else 161, b'/tmp')
syscall('fsopen', 430, b'tmpfs', 0)
syscall('open_tree', 428, -100, b'/', 1)`,
  },
  {
    name: 'make namespaces inside',
    code: `
syscall('unshare user', 97 if arm else 272, 0x10000000)
syscall('clone user', 220 if arm else 56, 0x10000000 | 17, 0, 0, 0, 0)
syscall('clone3', 435, 0, 0)
syscall('setns', 268 if arm else 308, 0, 0)`,
  },
  {
    name: 'reach rarely used kernel interfaces',
    code: `
syscall('io_uring', 425, 1, 0)
syscall('bpf', 280 if arm else 321, 0, 0, 0)
syscall('userfaultfd', 282 if arm else 323, 0)
syscall('perf_event_open', 241 if arm else 298, 0, 0, -1, -1, 0)
syscall('keyctl', 219 if arm else 250, 0, -3, 0)
syscall('add_key', 217 if arm else 248, b'user', b'k', b'v', 1, -3)
syscall('open_by_handle_at', 265 if arm else 304, -100, 0, 0)
syscall('kexec_load', 104 if arm else 246, 0, 0, 0, 0)
syscall('hidden memory', 279 if arm else 319, b'm', 0)
syscall('unattached shared memory', 194 if arm else 29, 0, 1 << 28, 0o1600)`,
  },
  {
    name: 'change the kernel',
    code: `
for path in ('/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/sys/vm/drop_caches', '/dev/mem', '/dev/kmsg', '/dev/sda', '/dev/vda', '/dev/fuse', '/dev/kvm'):
    refused(path, lambda: open(path, 'wb'))
refused('hostname', lambda: socket.sethostname(socket.gethostname()))
refused('clock', lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()))
refused('priority', lambda: os.nice(-5))`,
  },
  {
    name: 'use descriptors it was not given',
    code: `
def is_open(number):
    try: return bool(os.fstat(number))
    except OSError: return False
extra = [number for number in range(3, 4096) if is_open(number)]
print('open' if extra else 'held', extra)`,
  },
  {
    name: 'kill its keeper',
    code: `
if len(processes()) > 5:
    print('open: sees the processes of this machine, so the attack was not tried')
    sys.exit()
for target in (1, os.getppid()):
    try: os.kill(target, signal.SIGKILL)
    except OSError: pass
if os.fork() == 0:
    try: os.kill(-1, signal.SIGKILL)
    except OSError: pass
    os._exit(0)
time.sleep(0.3)
print('held')`,
    judge: (result) => (result.ending === 'finished' && /^held$|^$/.test(result.stdout.trim()) ? undefined : describe(result)),
  },
  {
    name: 'fork without end',
    code: `
made = 0
try:
    while made < 400:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        made += 1
except OSError as error:
    pass
print('held' if made < 200 else 'open', made)`,
  },
  {
    name: 'take memory in one process',
    memoryMb: 128,
    timeoutSeconds: 20,
    code: `
blocks = []
while len(blocks) < 2000:
    blocks.append(b'x' * (1 << 20))
print('open', len(blocks))`,
    judge: (result) => (result.ending === 'memoryLimit' ? undefined : describe(result)),
  },
  {
    name: 'take memory in many processes',
    memoryMb: 128,
    timeoutSeconds: 20,
    code: `
for _ in range(12):
    if os.fork() == 0:
        block = b'x' * (60 << 20)
        time.sleep(15)
        os._exit(0)
time.sleep(15)
print('open')`,
    judge: (result) => (result.ending === 'memoryLimit' ? undefined : describe(result)),
  },
  {
    name: 'fill the disk',
    code: `
def fill(folder):
    for number in range(8):
        with open(folder + '/big%d' % number, 'wb') as file:
            for _ in range(32):
                file.write(b'x' * (1 << 20))
refused('/tmp', lambda: fill('/tmp'))
refused('/dev/shm', lambda: fill('/dev/shm'))`,
    memoryMb: 512,
  },
  {
    name: 'outlive its time',
    timeoutSeconds: 1,
    code: `
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
print('held', flush=True)
while True: pass`,
    judge: (result) => (result.ending === 'timeout' ? undefined : describe(result)),
  },
];

const leave = `${prelude}
for folder in ('/tmp', '/dev/shm', '/dev', '/', '/etc', '/run', '/var/tmp'):
    try: open(folder + '/toolwise-left', 'w').close()
    except OSError: pass
import builtins, random
builtins.toolwise_left = True
sys.path.append('/toolwise-left')
print('held')`;

const look = `${prelude}
import builtins
left = [folder for folder in ('/tmp', '/dev/shm', '/dev', '/', '/etc', '/run', '/var/tmp') if os.path.exists(folder + '/toolwise-left')]
left += ['builtins'] if hasattr(builtins, 'toolwise_left') else []
left += ['sys.path'] if '/toolwise-left' in sys.path else []
print('open' if left else 'held', left)`;

/** Runs every attack, one after another; takes a few seconds. */
export async function probeSandbox(runner: CodeRunner): Promise<ProbeResult[]> {
  if (runner.name === 'none')
    return [{ name: 'isolation', ok: false, detail: 'there is no sandbox: programs run with the rights of this process' }];
  const socketName = `toolwise-probe-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const tcp = await listen((server) => server.listen(0, '127.0.0.1'));
  const local = process.platform === 'linux' ? await listen((server) => server.listen(`\0${socketName}`)) : undefined;
  const address = tcp.address();
  const tcpPort = typeof address === 'object' && address !== null ? address.port : 1;
  try {
    const results: ProbeResult[] = [];
    for (const attack of attacks({ tcpPort, socketName, home: homedir() })) results.push(await tryAttack(runner, attack));
    results.push(await tryLeftovers(runner));
    const after = await runner.run({ code: 'print(6 * 7)', timeoutSeconds: 20, memoryMb: 256 });
    const works = after.kind === 'ran' && after.stdout === '42\n';
    results.push({ name: 'break the sandbox for the next program', ok: works, detail: works ? 'it still works' : describe(after) });
    return results;
  } finally {
    tcp.close();
    local?.close();
  }
}

async function tryAttack(runner: CodeRunner, attack: Attack): Promise<ProbeResult> {
  const { name, timeoutSeconds = 20, memoryMb = 1024 } = attack;
  const result = await runner.run({ code: prelude + attack.code, timeoutSeconds, memoryMb });
  if (result.kind === 'infra') return { name, ok: false, detail: result.error };
  const fault = attack.judge === undefined ? judgeLines(result) : attack.judge(result);
  return { name, ok: fault === undefined, detail: fault ?? 'refused' };
}

function judgeLines(result: CodeResult & { kind: 'ran' }): string | undefined {
  const lines = result.stdout.split('\n').filter((line) => line !== '');
  const open = lines.filter((line) => !line.startsWith('held'));
  if (open.length > 0) return open.join('; ');
  return result.exitCode === 0 && lines.length > 0 ? undefined : describe(result);
}

/** Programs that leave something in every place they can, then others that look for it, on all workers of the runner. */
async function tryLeftovers(runner: CodeRunner): Promise<ProbeResult> {
  const name = 'leave something for the next program';
  const several = (code: string) => Promise.all(Array.from({ length: 8 }, () => runner.run({ code, timeoutSeconds: 20, memoryMb: 256 })));
  const left = await several(leave);
  const seen = await several(look);
  const faults = [...left, ...seen].map((result) => (result.kind === 'infra' ? result.error : judgeLines(result)));
  const fault = faults.find((it) => it !== undefined);
  return { name, ok: fault === undefined, detail: fault ?? 'nothing was left' };
}

function describe(result: CodeResult): string {
  if (result.kind === 'infra') return result.error;
  const said = `${result.stdout}${result.stderr}`.trim().slice(-300);
  return `${result.ending}, exit status ${result.exitCode}${said === '' ? '' : `: ${said}`}`;
}

function listen(start: (server: Server) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.once('listening', () => resolve(server));
    start(server);
  });
}
