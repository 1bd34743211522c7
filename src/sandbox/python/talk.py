"""
Talk between two processes: one with a test program, and one with the program under test (the candidate). Only the first can report; its entry
point is a stand-in that sends the arguments to the second and gets plain data back (`plain_data.py`). So nothing of the candidate runs where
the tests are: no patched ==, no exit, no look at frames or memory reaches them. The sides are `assertions.py` and `candidate.py`.
"""
import json
import re
import struct

from reports import MODULE

ENTRY, ROOT = 0, 1  # numbers of what the tests reach without having been given it
LARGEST_MESSAGE = 1 << 28


class Connection:
    """Whole JSON messages over a stream socket."""

    def __init__(self, socket):
        self.socket = socket

    def send(self, message):
        data = json.dumps(message).encode()
        self.socket.sendall(struct.pack('>I', len(data)) + data)

    def receive(self):
        """The next message; None when the other side is gone or speaks nonsense."""
        try:
            size = struct.unpack('>I', self.exactly(4))[0]
            return json.loads(self.exactly(size)) if size <= LARGEST_MESSAGE else None
        except (OSError, EOFError, ValueError, RecursionError):
            return None

    def exactly(self, size):
        parts = []
        while size:
            part = self.socket.recv(min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b''.join(parts)


FIRST_NAME = re.compile(r'\s*(\w*)')


def root_of(entry_point):
    """`Solution` of `Solution().add`."""
    return FIRST_NAME.match(entry_point)[1]


def run_prefix(prefix, space):
    if prefix:
        exec(compile(prefix, '<prefix>', 'exec', dont_inherit=True), space)


def shared_classes(space):
    """Classes that the prefix defines: both sides have them, so their objects can travel."""
    return {name: value for name, value in space.items() if isinstance(value, type) and value.__module__ == MODULE}
