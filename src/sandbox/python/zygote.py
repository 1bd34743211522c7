"""
The process that programs are forked from with namespaces of their own. It never sees a request: what a program is to do comes in a descriptor
that only the fork reads, so that no program finds another's source, output or tests in its memory.
"""
import array
import ctypes
import json
import os
import signal
import socket
import struct

import program
import reports
from launcher import PR_SET_PDEATHSIG

CLONE_FLAGS = 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, user, pid, net


class Zygote:
    """`launcher` turns the forks into programs; `private` descriptors are closed in the new process."""

    def __init__(self, launcher, private):
        self.launcher = launcher
        self.talk, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork():
            theirs.close()
            return
        try:
            self.talk.close()
            launcher.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            os.dup2(launcher.null, 0)
            for descriptor in private:
                os.close(descriptor)
            program.ready_streams(launcher.null)
            while True:
                self.serve_one(theirs)
        finally:
            os._exit(70)

    def start(self, given, ends):
        """
        `given`: a descriptor with the request as JSON. The process id of the program's first process; None when the zygote is gone. Raises
        OSError.
        """
        self.talk.sendmsg([b'start'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [*ends, given]))])
        answer = self.talk.recv(8)
        if not answer:
            return None
        pid, error = struct.unpack('ii', answer)
        if pid < 0:
            raise OSError(error, 'clone: ' + os.strerror(error))
        return pid

    def wait(self):
        """The exit status of what was started last; None when the zygote is gone."""
        self.talk.send(b'wait')
        answer = self.talk.recv(8)
        return struct.unpack('i', answer)[0] if answer else None

    def serve_one(self, connection):
        """Forks a program around the descriptors that come, says its process id, and when asked, its exit status."""
        descriptors = array.array('i')
        message, extra, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(16 * descriptors.itemsize), socket.MSG_CMSG_CLOEXEC)
        if not message:
            os._exit(0)
        for _, _, data in extra:
            descriptors.frombytes(data)
        *ends, given = descriptors
        pid = self.launcher.clone(CLONE_FLAGS)
        if pid == 0:
            self.launcher.become(json.loads(reports.whole(given)), ends)
        error = ctypes.get_errno()
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(struct.pack('ii', pid, error))
        if pid > 0:
            connection.recv(8)
            connection.send(struct.pack('i', os.waitpid(pid, 0)[1]))
