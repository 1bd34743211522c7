"""
Runs programs for the TypeScript side, one at a time, each in a forked child, and watches their time, memory and output.

    python3 supervisor.py namespaces|fork|plain MODULE,MODULE,...

`namespaces`: inside bubblewrap, for many programs; each gets namespaces, mounts and a process tree of its own. They are forked from a
second process (the zygote) that never sees a request, so that no program finds another's source, output or tests in its memory.
`fork`: process 1 of a bubblewrap that was started for one program. `plain`: no isolation at all.

Requests come as JSON lines on descriptor 0, answers leave as JSON lines on descriptor 3; a program inherits neither. What no program may
see (the tests of a `check`) comes on descriptor 4 and passes through memory that is wiped. End of input ends the supervisor and whatever runs. Does not decide what a result means, and never runs a program twice.

Memory: each process has an address space limit, and the resident memory of all together is looked at every 20 ms. Between two looks they
can overshoot; there is no cgroup.
"""
import _signal  # without the conversions of `signal` and `socket`, which a program would pay for each time
import _socket
import array
import ctypes
import fcntl
import gc
import json
import mmap
import os
import platform
import select
import signal
import socket
import struct
import sys
import time

import judge
import program
import seccomp

CLONE_FLAGS = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, user, pid, net
CLONE_NUMBER = {'x86_64': 56, 'aarch64': 220}
CLONE_NEWPID = 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
TMP_BYTES, SHM_BYTES = 64 << 20, 16 << 20
# Where a program's descriptors stand between fork and start: its status pipe, and the pipe that tells when its tree is gone.
STATUS, ALIVE = 3, 4
RESERVED_FOR_RUN = 5  # descriptors of a plain program; a task has two more: judge.REPORT and judge.SECRET
RESERVED = 16
DAY = 86400
SETUP_SECONDS = 20
MEMORY_PERIOD, LONGEST_PERIOD = 0.02, 0.2
PROGRESS_PERIOD = 1
PAGE = os.sysconf('SC_PAGE_SIZE')
# What programs import most; loaded once, here. (A fork costs by what the process holds: these add little.)
COMMON_MODULES = ('array', 'bisect', 'cmath', 'collections', 'copy', 'dataclasses', 'datetime', 'decimal', 'enum', 'fractions', 'functools',
                  'heapq', 'io', 'itertools', 'json', 'math', 'operator', 'queue', 'random', 're', 'statistics', 'string', 'time', 'typing')
SANDBOX_UIDS = range(61200, 65100)  # `workerUid` in host.ts


def kernel_version():
    digits = platform.release().split('-')[0].split('.')
    try:
        return int(digits[0]), int(digits[1])
    except (IndexError, ValueError):
        return 0, 0


def resident(pid):
    try:
        with open('/proc/%d/statm' % pid, 'rb') as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError, ValueError):
        return 0


def proportional(pid):
    """Resident bytes with shared pages divided among those who share them; None where the kernel does not tell, 0 of a process that is gone."""
    try:
        with open('/proc/%d/smaps_rollup' % pid, 'rb') as file:
            for line in file:
                if line.startswith(b'Pss:'):
                    return int(line.split()[1]) << 10
    except (FileNotFoundError, ProcessLookupError):
        return 0 if os.path.exists('/proc/self/smaps_rollup') else None
    except (OSError, ValueError):
        pass
    return None


def descendants(root):
    """Process ids below `root`, from one reading of /proc; empty where there is none."""
    children = {}
    try:
        names = os.listdir('/proc')
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open('/proc/%s/stat' % name, 'rb') as file:
                    parent = int(file.read().rpartition(b')')[2].split()[1])
                children.setdefault(parent, []).append(int(name))
            except (OSError, IndexError, ValueError):
                pass
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def warm_up(sympy):
    """Fills sympy's caches and runs its late imports once: the first `solve` of a process takes 130 ms, later ones 2 ms."""
    x = sympy.Symbol('x')
    str(sympy.expand((x + 1) ** 3))
    sympy.solve(x**2 - 2 * x - 1, x)
    sympy.simplify((x**2 - 1) / (x - 1))
    sympy.integrate(x**2, x)
    sympy.limit(sympy.sin(x) / x, x, 0)
    sympy.N(sympy.sqrt(2) + sympy.pi, 20)


class Output:
    """One captured stream, kept up to a limit."""

    def __init__(self, descriptor, limit):
        self.descriptor, self.limit, self.data, self.full = descriptor, limit, bytearray(), False

    def read(self):
        """False at the end of the stream."""
        block = os.read(self.descriptor, 1 << 16)
        room = self.limit - len(self.data)
        self.full = self.full or len(block) > room
        self.data += block[:room]
        return bool(block)

    def text(self):
        return self.data.decode('utf-8', 'replace')


class Supervisor:
    def __init__(self, mode, modules):
        self.mode = mode
        self.machine = platform.machine()
        self.notes = []
        self.input = b''
        self.buried = {}
        self.libc = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter lock across a fork made by hand
        self.prison = None if mode == 'plain' else seccomp.Prison(self.libc, self.machine)
        self.reserve_descriptors()
        self.preload(modules)
        # One byte a program can reach after its memory ran out, when nothing else can be opened any more.
        self.page = mmap.mmap(-1, mmap.PAGESIZE)
        if mode != 'namespaces' and sys.platform == 'linux':
            self.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if mode == 'fork':
            self.libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        self.uid, self.gid = os.getuid(), os.getgid()
        # Before 5.14 the number counts the user's processes outside the sandbox as well; an id of the sandbox's own has none there.
        self.limits_processes = mode != 'plain' and (kernel_version() >= (5, 14) or self.uid in SANDBOX_UIDS)
        if mode != 'plain' and not self.limits_processes:
            self.notes.append('kernel older than 5.14: the number of processes of a program is not limited')
        self.base_resident = resident(os.getpid())
        try:
            with open('/proc/self/statm', 'rb') as file:
                self.base_address_space = int(file.read().split()[0]) * PAGE
        except OSError:
            self.base_address_space = None
            self.notes.append('no /proc: memory is not watched')
        self.zygote = self.start_zygote() if mode == 'namespaces' else None

    def reserve_descriptors(self):
        self.replies = fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, RESERVED)
        self.secrets = fcntl.fcntl(4, fcntl.F_DUPFD_CLOEXEC, RESERVED)
        self.null = os.open('/dev/null', os.O_RDWR | os.O_CLOEXEC)
        while self.null < RESERVED:
            self.null = fcntl.fcntl(self.null, fcntl.F_DUPFD_CLOEXEC, RESERVED)
        for descriptor in range(3, RESERVED):
            os.dup2(self.null, descriptor, inheritable=False)

    def preload(self, modules):
        for name in modules:
            try:
                __import__(name)
            except ImportError as error:
                self.notes.append('%s not loaded: %s' % (name, error))
        if 'sympy' in sys.modules:
            warm_up(sys.modules['sympy'])
        for name in COMMON_MODULES if self.mode == 'namespaces' else ():
            __import__(name)
        for name in ('judge', 'plain_data', 'program', 'seccomp'):
            sys.modules.pop(name, None)
        own_folder = os.path.dirname(os.path.abspath(__file__))
        sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or '.') != own_folder]
        if hasattr(sys, 'set_int_max_str_digits'):
            sys.set_int_max_str_digits(0)
        gc.collect()
        gc.freeze()

    # Talking to the other side

    def send(self, message):
        data = json.dumps(message).encode() + b'\n'
        while data:
            data = data[os.write(self.replies, data):]

    def next_line(self):
        """The next complete line already read, or None."""
        line, found, rest = self.input.partition(b'\n')
        if not found:
            return None
        self.input = rest
        return json.loads(line)

    def receive(self):
        """Reads what has come. At the end of input everything ends: there is nobody left to answer."""
        block = os.read(0, 1 << 20)
        if not block:
            self.end()
        self.input += block

    def end(self):
        if self.mode == 'plain':
            self.kill_below()
        os._exit(0)

    def serve(self):
        self.send({'kind': 'ready', 'python': platform.python_version(), 'notes': self.notes})
        while True:
            message = self.next_line()
            if message is None:
                self.receive()
            elif message['kind'] == 'run':
                self.send(self.handle(message))

    # One program

    def handle(self, request):
        self.page[0] = 0
        task, limit = request.get('task'), request['outputBytes']
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        status, status_end = os.pipe()
        alive, alive_end = os.pipe()
        report, report_end = os.pipe() if task else (None, self.null)
        given = self.standard_input(request.get('stdin'))
        hidden = self.pass_secret(task['secretBytes']) if task and task['kind'] == 'check' else self.null
        try:
            ends = (given, out_end, err_end, status_end, alive_end, report_end, hidden)
            pid = self.start(request, ends)
            for descriptor in ends:
                if descriptor != self.null:
                    os.close(descriptor)
            told = Output(report, limit) if task else None
            return self.watch(request, pid, Output(out, limit), Output(err, limit), told, status, alive)
        except OSError as error:
            return {'kind': 'infra', 'id': request['id'], 'error': 'cannot start a program: %s' % error}
        finally:
            self.buried.clear()
            for descriptor in (out, err, status, alive, report):
                if descriptor is not None:
                    os.close(descriptor)

    def pass_secret(self, size):
        """From descriptor to descriptor, through memory that is wiped: a fork of this process does not hold it."""
        descriptor = self.anonymous_file()
        with mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as passage, memoryview(passage) as buffer:
            while size:
                count = os.readv(self.secrets, [buffer[:min(size, len(buffer))]])
                if count == 0:
                    self.end()
                written = 0
                while written < count:
                    written += os.write(descriptor, buffer[written:count])
                buffer[:count] = bytes(count)
                size -= count
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def anonymous_file(self, data=b''):
        if hasattr(os, 'memfd_create'):
            descriptor = os.memfd_create('input')
        else:
            import tempfile
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        while data:
            data = data[os.write(descriptor, data):]
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def standard_input(self, text):
        if not text:
            return self.null
        return self.anonymous_file(text.encode('utf-8', 'surrogatepass'))

    # The zygote

    def start_zygote(self):
        """The process that programs are forked from with namespaces; our end of the talk with it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork():
            theirs.close()
            return ours
        try:
            ours.close()
            self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.dup2(self.null, 0)
            os.close(self.replies)
            os.close(self.secrets)
            program.ready_streams(self.null)
            while True:
                self.serve_one(theirs)
        finally:
            os._exit(70)

    def serve_one(self, connection):
        """Forks a program around the descriptors that come, says its process id, and when asked, its exit status."""
        descriptors = array.array('i')
        message, extra, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(16 * descriptors.itemsize), socket.MSG_CMSG_CLOEXEC)
        if not message:
            os._exit(0)
        for _, _, data in extra:
            descriptors.frombytes(data)
        *ends, given = descriptors
        pid = self.clone(CLONE_FLAGS)
        if pid == 0:
            self.become(json.loads(judge.whole(given)), ends)
        error = ctypes.get_errno()
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(struct.pack('ii', pid, error))
        if pid > 0:
            connection.recv(8)
            connection.send(struct.pack('i', os.waitpid(pid, 0)[1]))

    def clone(self, flags):
        return self.libc.syscall(CLONE_NUMBER[self.machine], flags | signal.SIGCHLD, 0, 0, 0, 0)

    def fork_from_zygote(self, request, ends):
        given = self.anonymous_file(json.dumps(request).encode())
        try:
            self.zygote.sendmsg([b'start'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [*ends, given]))])
        finally:
            os.close(given)
        pid, error = struct.unpack('ii', self.zygote.recv(8) or self.end())
        if pid < 0:
            raise OSError(error, 'clone: ' + os.strerror(error))
        return pid

    def start(self, request, ends):
        if self.zygote is not None:
            return self.fork_from_zygote(request, ends)
        pid = os.fork()
        if pid == 0:
            self.become(request, ends)
        return pid

    def become(self, request, ends):
        """In the fork: turns this process into what runs the program. Never comes back."""
        try:
            task = request.get('task')
            two_sides = bool(task) and task['kind'] == 'check'
            if task:
                os.dup2(self.null, ends[1])  # what a task prints is nobody's business
            for target, descriptor in enumerate(ends):
                if target < RESERVED_FOR_RUN or task:
                    os.dup2(descriptor, target, inheritable=False)
            os.closerange(len(ends) if task else RESERVED_FOR_RUN, 1024)
            if self.mode == 'namespaces':
                self.enter_namespaces()
            if two_sides:
                self.begin_tests(request)
            elif self.mode == 'namespaces':
                self.prison.enter()
                self.hide()
                child = os.fork()
                if child:
                    self.be_init(child)
            elif self.mode == 'fork':
                self.prison.enter()
            os.close(ALIVE)
            os.setsid()
            self.begin(request)
        except BaseException as error:
            os.write(STATUS, ('%s: %s' % (type(error).__name__, error)).encode())
        os._exit(70)

    def check(self, result, what):
        if result != 0:
            number = ctypes.get_errno()
            raise OSError(number, '%s: %s' % (what, os.strerror(number)))

    def enter_namespaces(self):
        """In process 1 of the new process namespace."""
        mount = self.libc.mount
        self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for name, text in (('setgroups', 'deny'), ('uid_map', '%d %d 1' % (self.uid, self.uid)), ('gid_map', '%d %d 1' % (self.gid, self.gid))):
            descriptor = os.open('/proc/self/' + name, os.O_WRONLY)
            os.write(descriptor, text.encode())
            os.close(descriptor)
        flags = MS_NOSUID | MS_NODEV
        self.check(mount(b'tmpfs', b'/tmp', b'tmpfs', flags, b'mode=1777,nr_inodes=4096,size=%d' % TMP_BYTES), '/tmp')
        self.check(mount(b'tmpfs', b'/dev/shm', b'tmpfs', flags, b'mode=1777,nr_inodes=64,size=%d' % SHM_BYTES), '/dev/shm')
        if mount(b'proc', b'/proc', b'proc', flags | MS_NOEXEC, None) != 0:
            self.check(mount(b'tmpfs', b'/proc', b'tmpfs', flags | MS_NOEXEC | MS_RDONLY, b'size=4k'), '/proc')
        os.chdir('/tmp')

    def hide(self):
        """Its memory and descriptors are closed to other processes of the same user."""
        if sys.platform == 'linux':
            self.libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)

    def be_init(self, child):
        """Buries the dead of the namespace; when the program itself has ended, the kernel kills whatever it left behind."""
        os.closerange(0, ALIVE)
        os.closerange(ALIVE + 1, RESERVED)
        while True:
            try:
                pid, status = os.wait()
            except ChildProcessError:
                os._exit(71)
            if pid == child:
                os._exit(exit_code(status))

    def begin(self, request):
        self.prepare_program(request)
        os.write(STATUS, b'+')
        os.close(STATUS)
        task = request.get('task')
        if task:
            judge.call(request['code'], task['functionName'], task['arguments'], self.note_memory_error)
        program.run(request['code'], request['echoLast'], self.note_memory_error, self.note_syntax_error)

    def prepare_program(self, request):
        """Just before a program's own code."""
        if self.mode != 'plain':
            # Its keeper is closed to it; it must stay open to its keeper, who tells shared memory from memory of its own.
            self.libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
        self.limit(request)
        if request.get('recursionLimit'):
            program.deepen(request['recursionLimit'], int(request['memoryMb']) << 20)
        gc.enable()
        program.reseed()
        program.open_standard_streams()

    def limit(self, request):
        space = None if self.base_address_space is None else self.base_address_space + (int(request['memoryMb']) << 20)
        cpu_seconds = int(request['timeoutSeconds'] * (os.cpu_count() or 1)) + 10
        if (request.get('task') or {}).get('kind') == 'check':
            cpu_seconds = DAY  # the time limit is one of each case; it is watched from outside
        program.limit(space, cpu_seconds, self.limits_processes)
        _signal.signal(signal.SIGINT, signal.default_int_handler)

    def begin_tests(self, request):
        """
        Makes a second process for the program; this one keeps the tests, and nothing of the program's ever runs in it. With namespaces
        each of the two is process 1 of its own, and the program's does not hold the tests' process: it can neither see nor end it.
        """
        ours, theirs = _socket.socketpair()
        task = request['task']
        self.hide()
        pid = self.fork_apart()
        if pid == 0:
            try:
                ours.close()
                os.closerange(STATUS, RESERVED_FOR_RUN)
                os.close(judge.REPORT)
                os.close(judge.SECRET)
                if self.mode != 'plain':
                    self.prison.enter()
                os.setsid()
                self.prepare_program(request)
                judge.serve(theirs, request['code'], task['prefix'], task['entryPoint'])
            finally:
                os._exit(70)
        theirs.close()
        if self.mode != 'namespaces':
            os.close(ALIVE)
        if self.mode != 'plain':
            self.prison.enter()
        os.setsid()
        os.dup2(1, 0)  # a task's standard output goes nowhere
        os.dup2(1, 2)
        self.limit(request)
        gc.enable()
        program.reseed()
        os.write(STATUS, b'+')
        os.close(STATUS)
        judge.check(ours, task)

    def fork_apart(self):
        if self.mode != 'namespaces':
            return os.fork()
        pid = self.clone(CLONE_NEWPID)
        if pid < 0:
            raise OSError(ctypes.get_errno(), 'clone: ' + os.strerror(ctypes.get_errno()))
        return pid

    def note_memory_error(self):
        self.page[0] = 1

    def note_syntax_error(self):
        self.page[0] = 2

    def watch(self, request, pid, out, err, told, status, alive):
        """Until the program and all it started are gone. Reads the program's streams, its time and its memory."""
        poller = select.poll()
        streams = {stream.descriptor: stream for stream in (out, err, told) if stream}
        gone = alive if self.mode == 'namespaces' else self.open_pid(pid)
        for descriptor in (*streams, status, gone, 0):
            if descriptor is not None:
                poller.register(descriptor, select.POLLIN)
        limit = int(request['memoryMb']) << 20
        setup_error, started, heard, ending = b'', None, 0, None
        deadline = time.monotonic() + SETUP_SECONDS
        next_look = time.monotonic() + MEMORY_PERIOD
        running = True
        while running:
            now = time.monotonic()
            for descriptor, _ in poller.poll(max(0, min(deadline, next_look) - now) * 1000 + 0.5):
                if descriptor == 0:
                    self.receive()
                    ending = ending or self.cancelled(request)
                elif descriptor == status:
                    block = os.read(status, 4096)
                    if block == b'+':
                        started = time.monotonic()
                        deadline = started + request['timeoutSeconds']
                        self.send({'kind': 'started', 'id': request['id']})
                        heard = started
                    elif block:
                        setup_error += block
                    else:
                        poller.unregister(status)
                elif descriptor == gone:
                    running = False
                else:
                    if not streams[descriptor].read():
                        poller.unregister(descriptor)
                    elif streams[descriptor].full:
                        ending = ending or 'outputLimit'
                    elif streams[descriptor] is told and request['task']['kind'] == 'check':
                        now = time.monotonic()
                        deadline = now + request['timeoutSeconds']
                        if started and now - heard > PROGRESS_PERIOD:
                            self.send({'kind': 'progress', 'id': request['id']})
                            heard = now
            if gone is None:
                self.bury()
                running = pid not in self.buried
            now, spent = time.monotonic(), time.process_time()
            if running and ending is None:
                if now >= deadline:
                    ending = 'timeout' if started else 'setup'
                elif now >= next_look and started and self.over(limit, pid):
                    ending = 'memoryLimit'
            if now >= next_look:
                # Looking takes at most a tenth of a processor, and is never put off for long.
                next_look = time.monotonic() + min(max(MEMORY_PERIOD, 10 * (time.process_time() - spent)), LONGEST_PERIOD)
            if ending is not None:
                break
        ended = time.monotonic()
        exit_status = self.finish(pid, running)
        if gone is not None and gone != alive:
            os.close(gone)
        self.drain(streams)
        if ending == 'cancelled':
            return {'kind': 'infra', 'id': request['id'], 'error': 'cancelled'}
        if started is None and not setup_error and ending is None and os.read(status, 1) == b'+':
            started = ended
        if started is None:
            reason = 'not set up after %d s' % SETUP_SECONDS if ending == 'setup' else setup_error.decode('utf-8', 'replace') or 'ended with status %d' % exit_status
            return {'kind': 'infra', 'id': request['id'], 'error': 'the sandbox could not be set up: %s' % reason}
        if ending is None:
            full = any(stream.full for stream in streams.values())
            ending = 'outputLimit' if full else 'memoryLimit' if self.page[0] == 1 else 'finished'
        answer = {
            'kind': 'ran',
            'id': request['id'],
            'ending': ending,
            'exitCode': exit_code(exit_status),
            'stdout': out.text(),
            'stderr': err.text(),
            'seconds': ended - started,
        }
        if self.page[0] == 2:
            answer['doesNotCompile'] = True
        if told:
            answer['report'] = told.text()
        return answer

    def drain(self, streams):
        """What stood in the pipes when the tree died. Nobody can write any more, so this ends."""
        for descriptor in streams:
            os.set_blocking(descriptor, False)
            try:
                while streams[descriptor].read():
                    pass
            except BlockingIOError:
                pass

    def cancelled(self, request):
        while True:
            message = self.next_line()
            if message is None:
                return None
            if message['kind'] == 'cancel' and message['id'] == request['id']:
                return 'cancelled'

    def over(self, limit, pid):
        """Whether the program and all it started hold more than `limit` bytes beyond what they share with this process."""
        below = descendants(os.getpid() if self.mode != 'namespaces' else pid)
        sizes = [max(0, resident(one) - self.base_resident) for one in below]
        if sum(sizes) <= limit:
            return False
        # Pages shared after a fork were counted several times: count them once.
        exact = 0
        for one, size in zip(below, sizes):
            share = proportional(one)
            exact += size if share is None else min(size, share)
        return exact > limit

    # Ends

    def finish(self, pid, running):
        """Leaves nothing of the program running; its exit status."""
        if self.mode == 'namespaces':
            if running:
                os.kill(pid, signal.SIGKILL)  # process 1 of its namespace: the rest dies with it; not buried, so the id is still its own
            self.zygote.send(b'wait')
            return struct.unpack('i', self.zygote.recv(8) or self.end())[0]
        self.bury()
        for kill, group in ((os.killpg, pid), (os.kill, pid)):
            try:
                if pid not in self.buried:
                    kill(group, signal.SIGKILL)
            except OSError:
                pass
        self.kill_below()
        while pid not in self.buried:
            self.bury()
            time.sleep(0.001)
        return self.buried.pop(pid)

    def kill_below(self):
        """Without a process namespace: everything below us, again until nothing is left that was started meanwhile."""
        for _ in range(1000):
            below = descendants(os.getpid())
            if not below:
                return
            for pid in below:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.001)
            self.bury()

    def bury(self):
        """Takes the exit status of everything that has ended, orphans of the program among them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.buried[pid] = status

    def open_pid(self, pid):
        """A descriptor that reads as ready when the process has ended; None where the system has none (it is then asked every period)."""
        try:
            return os.pidfd_open(pid)
        except (AttributeError, OSError):
            return None


def exit_code(status):
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


if __name__ == '__main__':
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is the other side's business
    Supervisor(sys.argv[1], [name for name in sys.argv[2].split(',') if name]).serve()
