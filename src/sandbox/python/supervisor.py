"""
Runs programs for the TypeScript side, one at a time, each in a forked child, and watches their time, memory and output.

    python3 supervisor.py namespaces|fork|plain MODULE,MODULE,...

`namespaces`: inside bubblewrap, for many programs; each gets namespaces, mounts and a process tree of its own. They are forked from a
second process (the zygote) that never sees a request, so that no program finds another's source, output or tests in its memory.
`fork`: process 1 of a bubblewrap that was started for one program. `plain`: no isolation at all.

Requests come as JSON lines on descriptor 0, answers leave as JSON lines on descriptor 3; a program inherits neither. What no program may
see (the tests of a `check`) comes on descriptor 4 and passes through memory that is wiped. End of input ends the supervisor and whatever
runs. Does not decide what a result means, and never runs a program twice.

Memory: each process has an address space limit, and the resident memory of all together is looked at every 20 ms. Between two looks they
can overshoot; there is no cgroup.
"""
import fcntl
import gc
import json
import mmap
import os
import platform
import select
import signal
import sys
import time

import launcher
import preload
import processes
import zygote
from launcher import PR_SET_DUMPABLE, RESERVED

PR_SET_CHILD_SUBREAPER = 36
SETUP_SECONDS = 20
MEMORY_PERIOD, LONGEST_PERIOD = 0.02, 0.2
PROGRESS_PERIOD = 1
OWN_MODULES = ('assertions', 'call', 'candidate', 'launcher', 'plain_data', 'plan', 'preload', 'processes', 'program', 'reports', 'seccomp', 'talk',
               'zygote')


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
        self.notes = []
        self.input = b''
        self.buried = {}
        self.reserve_descriptors()
        self.launcher = launcher.Launcher(mode, self.null, self.notes)
        self.notes += preload.load(modules, mode == 'namespaces')
        preload.hide(OWN_MODULES, os.path.dirname(os.path.abspath(__file__)))
        if mode != 'namespaces' and sys.platform == 'linux':
            self.launcher.libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if mode == 'fork':
            self.launcher.libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        self.base_resident = processes.resident(os.getpid())
        if self.launcher.measure() is None:
            self.notes.append('no /proc: memory is not watched')
        self.zygote = zygote.Zygote(self.launcher, (self.replies, self.secrets)) if mode == 'namespaces' else None

    def reserve_descriptors(self):
        self.replies = fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, RESERVED)
        self.secrets = fcntl.fcntl(4, fcntl.F_DUPFD_CLOEXEC, RESERVED)
        self.null = os.open('/dev/null', os.O_RDWR | os.O_CLOEXEC)
        while self.null < RESERVED:
            self.null = fcntl.fcntl(self.null, fcntl.F_DUPFD_CLOEXEC, RESERVED)
        for descriptor in range(3, RESERVED):
            os.dup2(self.null, descriptor, inheritable=False)

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
        self.launcher.page[0] = 0
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

    def start(self, request, ends):
        if self.zygote is not None:
            given = self.anonymous_file(json.dumps(request).encode())
            try:
                return self.zygote.start(given, ends) or self.end()
            finally:
                os.close(given)
        pid = os.fork()
        if pid == 0:
            self.launcher.become(request, ends)
        return pid

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
            said = setup_error.decode('utf-8', 'replace') or 'ended with status %d' % exit_status
            reason = 'not set up after %d s' % SETUP_SECONDS if ending == 'setup' else said
            return {'kind': 'infra', 'id': request['id'], 'error': 'the sandbox could not be set up: %s' % reason}
        if ending is None:
            full = any(stream.full for stream in streams.values())
            ending = 'outputLimit' if full else 'memoryLimit' if self.launcher.page[0] == launcher.NO_MEMORY else 'finished'
        answer = {
            'kind': 'ran',
            'id': request['id'],
            'ending': ending,
            'exitCode': processes.exit_code(exit_status),
            'stdout': out.text(),
            'stderr': err.text(),
            'seconds': ended - started,
        }
        if self.launcher.page[0] == launcher.NO_PROGRAM:
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
        below = processes.descendants(os.getpid() if self.mode != 'namespaces' else pid)
        sizes = [max(0, processes.resident(one) - self.base_resident) for one in below]
        if sum(sizes) <= limit:
            return False
        # Pages shared after a fork were counted several times: count them once.
        exact = 0
        for one, size in zip(below, sizes):
            share = processes.proportional(one)
            exact += size if share is None else min(size, share)
        return exact > limit

    # Ends

    def finish(self, pid, running):
        """Leaves nothing of the program running; its exit status."""
        if self.mode == 'namespaces':
            if running:
                os.kill(pid, signal.SIGKILL)  # process 1 of its namespace: the rest dies with it; not buried, so the id is still its own
            status = self.zygote.wait()
            return self.end() if status is None else status
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
            below = processes.descendants(os.getpid())
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


if __name__ == '__main__':
    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is the other side's business
    Supervisor(sys.argv[1], [name for name in sys.argv[2].split(',') if name]).serve()
