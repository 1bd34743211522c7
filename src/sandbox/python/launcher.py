"""
Turns a process that was just forked into what runs a program, or the tests of one: descriptors, namespaces, mounts, limits, capabilities, the
filter. Does not fork the first process (see `zygote.py`) and does not watch what it made.
"""
import _signal  # without the conversions of `signal` and `socket`, which a program would pay for each time
import _socket
import ctypes
import gc
import mmap
import os
import platform
import signal
import sys

import assertions
import call
import candidate
import program
import reports
import seccomp
from processes import address_space, exit_code, kernel_version

CLONE_NUMBER = {'x86_64': 56, 'aarch64': 220}
CLONE_NEWPID = 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
TMP_BYTES, SHM_BYTES = 64 << 20, 16 << 20
# Where a program's descriptors stand between fork and start: its status pipe, and the pipe that tells when its tree is gone.
STATUS, ALIVE = 3, 4
RESERVED_FOR_RUN = 5  # descriptors of a plain program; a task has two more: reports.REPORT and assertions.SECRET
RESERVED = 16
DAY = 86400
SANDBOX_UIDS = range(61200, 65100)  # `workerUid` in host.ts
NO_MEMORY, NO_PROGRAM = 1, 2


class Launcher:
    """`null`: a descriptor of /dev/null. `notes` takes what a person should know about this machine."""

    def __init__(self, mode, null, notes):
        self.mode, self.null = mode, null
        self.machine = platform.machine()
        self.libc = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter lock across a fork made by hand
        self.prison = None if mode == 'plain' else seccomp.Prison(self.libc, self.machine)
        # One byte a program can reach after its memory ran out, when nothing else can be opened any more.
        self.page = mmap.mmap(-1, mmap.PAGESIZE)
        self.uid, self.gid = os.getuid(), os.getgid()
        # Before 5.14 the number counts the user's processes outside the sandbox as well; an id of the sandbox's own has none there.
        self.limits_processes = mode != 'plain' and (kernel_version() >= (5, 14) or self.uid in SANDBOX_UIDS)
        if mode != 'plain' and not self.limits_processes:
            notes.append('kernel older than 5.14: the number of processes of a program is not limited')
        self.base_address_space = None

    def measure(self):
        """Once everything is loaded: limits count from here. None where there is no /proc."""
        self.base_address_space = address_space()
        return self.base_address_space

    def clone(self, flags):
        """A fork by hand; -1 with the error in ctypes.get_errno()."""
        return self.libc.syscall(CLONE_NUMBER[self.machine], flags | signal.SIGCHLD, 0, 0, 0, 0)

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
            call.call(request['code'], task['functionName'], task['arguments'], self.note_memory_error)
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
                os.close(reports.REPORT)
                os.close(assertions.SECRET)
                if self.mode != 'plain':
                    self.prison.enter()
                os.setsid()
                self.prepare_program(request)
                candidate.serve(theirs, request['code'], task['prefix'], task['entryPoint'])
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
        assertions.check(ours, task)

    def fork_apart(self):
        if self.mode != 'namespaces':
            return os.fork()
        pid = self.clone(CLONE_NEWPID)
        if pid < 0:
            raise OSError(ctypes.get_errno(), 'clone: ' + os.strerror(ctypes.get_errno()))
        return pid

    def note_memory_error(self):
        self.page[0] = NO_MEMORY

    def note_syntax_error(self):
        self.page[0] = NO_PROGRAM
