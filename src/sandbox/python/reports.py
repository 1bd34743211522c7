"""What a process that judges says at its end, and small things that all of them need. Judges nothing."""
import builtins
import json
import os
import sys
import traceback
import types

REPORT = 5
MODULE = 'solution'
LONGEST_TEXT = 500


def whole(descriptor):
    """All that a file holds from where its descriptor stands."""
    parts = []
    while True:
        part = os.read(descriptor, 1 << 20)
        if not part:
            return b''.join(parts)
        parts.append(part)


def report(message):
    data = json.dumps(message).encode() + b'\n'
    while data:
        data = data[os.write(REPORT, data):]


def text_of(error):
    lines = traceback.format_exception_only(type(error), error)
    text = lines[-1].strip() if lines else type(error).__name__
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == '<code>':
            line = trace.tb_lineno
        trace = trace.tb_next
    return ('%s (line %d)' % (text, line) if line else text)[:LONGEST_TEXT]


def new_module(name):
    module = types.ModuleType(name)
    module.__builtins__ = builtins
    sys.modules[name] = module
    return module.__dict__


def safe_text(error):
    try:
        return text_of(error)
    except BaseException:
        return type(error).__name__


def leave(status):
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
    os._exit(status)
