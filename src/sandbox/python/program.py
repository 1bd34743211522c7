"""
Runs one program's source in this process the way `python file.py` would, and never returns. Does not isolate anything: namespaces,
filters and the supervision of time and memory are the business of `supervisor.py`.
"""
import ast
import atexit
import builtins
import gc
import linecache
import os
import resource
import sys
import threading
import traceback
import types

FILE_NAME = '<code>'
FILE_BYTES = 64 << 20
PROCESSES = 64
OPEN_FILES = 128
# A longer traceback is cut in the middle.
TRACEBACK_HEAD, TRACEBACK_TAIL = 6, 12
# Of a deeper one only the end is looked at.
DEEPEST_TRACEBACK = 2000


LIMITS = [
    (getattr(resource, name), value)
    for name, value in (('RLIMIT_CORE', 0), ('RLIMIT_FSIZE', FILE_BYTES), ('RLIMIT_NOFILE', OPEN_FILES), ('RLIMIT_MSGQUEUE', 0))
    if hasattr(resource, name)
]


def limit(address_space, cpu_seconds, processes):
    """Per-process limits. `address_space` in bytes, or None; `processes` False leaves their number alone."""
    wanted = [*LIMITS, (resource.RLIMIT_CPU, cpu_seconds)]
    if address_space is not None:
        wanted.append((resource.RLIMIT_AS, address_space))
    if processes:
        wanted.append((resource.RLIMIT_NPROC, PROCESSES))
    for number, value in wanted:
        _, hard = resource.getrlimit(number)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(number, (value, value))
        except (ValueError, OSError):
            pass  # macOS refuses some of these; they are not promised there


def deepen(recursion_limit, stack_bytes):
    """Room for deep recursion. The main thread's stack grows on demand, so that this costs nothing by itself."""
    sys.setrecursionlimit(recursion_limit)
    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (stack_bytes if hard == resource.RLIM_INFINITY else min(stack_bytes, hard), hard))
    except (ValueError, OSError):
        pass


def reseed():
    """A fork copies the state of every generator made before it: without this, all programs would draw the same numbers."""
    if 'random' in sys.modules:
        sys.modules['random'].seed()
    if 'numpy.random' in sys.modules:
        sys.modules['numpy.random'].seed(int.from_bytes(os.urandom(4), 'little'))
    if 'sympy.core.random' in sys.modules:
        sys.modules['sympy.core.random'].rng.seed()


def new_streams():
    # Lines go out as they are printed: a program that is killed later has not printed in vain.
    return (
        open(0, 'r', encoding='utf-8', errors='surrogateescape', closefd=False),
        open(1, 'w', encoding='utf-8', errors='surrogateescape', buffering=1, closefd=False),
        open(2, 'w', encoding='utf-8', errors='backslashreplace', buffering=1, closefd=False),
    )


_ready = None


def ready_streams(null):
    """Opens them ahead of the fork, over descriptors of the kinds they will have then: what can be sought, and pipes."""
    global _ready
    kept = [os.dup(descriptor) for descriptor in range(3)]
    pipe = os.pipe()
    for descriptor, source in enumerate((null, pipe[1], pipe[1])):
        os.dup2(source, descriptor)
    _ready = new_streams()
    for descriptor, source in enumerate(kept):
        os.dup2(source, descriptor)
    for descriptor in (*kept, *pipe):
        os.close(descriptor)


def open_standard_streams():
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = _ready or new_streams()


def compile_program(code, echo_last):
    """Code objects to run in order. The last one shows its value if `echo_last` and the program ends in an expression."""
    tree = ast.parse(code, FILE_NAME)
    if not echo_last or not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return [compile(tree, FILE_NAME, 'exec', dont_inherit=True)]
    last = ast.Interactive([tree.body.pop()])
    return [compile(tree, FILE_NAME, 'exec', dont_inherit=True), compile(last, FILE_NAME, 'single', dont_inherit=True)]


def report(error, own_files, ran):
    """Prints the traceback as Python would, without our own frames, and not longer than a reader needs."""
    trace = error.__traceback__ if ran else None
    while trace is not None and trace.tb_frame.f_code.co_filename in own_files:
        trace = trace.tb_next
    error.__traceback__ = trace
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, trace)
        return
    depth, here = 0, trace
    while here is not None:
        depth, here = depth + 1, here.tb_next
    for _ in range(depth - DEEPEST_TRACEBACK):
        trace = trace.tb_next
    error.__traceback__ = trace
    pieces = list(traceback.TracebackException(type(error), error, trace).format())
    if len(pieces) > TRACEBACK_HEAD + TRACEBACK_TAIL:
        left_out = len(pieces) - TRACEBACK_HEAD - TRACEBACK_TAIL
        pieces[TRACEBACK_HEAD:-TRACEBACK_TAIL] = ['  ... %d entries left out ...\n' % left_out]
    sys.stderr.write(''.join(pieces))


def _exit_code(error):
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)
    return 1


def run(code, echo_last, note_memory_error, note_syntax_error):
    """
    Runs the program and ends this process with its exit status. `note_memory_error` is called when it died of a MemoryError,
    `note_syntax_error` when it is no program.
    """
    own_files = {__file__, run.__code__.co_filename}
    main = types.ModuleType('__main__')
    main.__builtins__ = builtins
    sys.modules['__main__'] = main
    sys.argv = [FILE_NAME]
    sys.path.insert(0, '')
    lines = code.splitlines(True)
    linecache.cache[FILE_NAME] = (len(code), None, lines, FILE_NAME)
    exit_code = 0
    try:
        started = False
        try:
            parts = compile_program(code, echo_last)
            started = True
            for part in parts:
                exec(part, main.__dict__)
        finally:
            # As at a normal end of the interpreter: threads are waited for, then handlers run.
            threading._shutdown()
            atexit._run_exitfuncs()
    except SystemExit as error:
        exit_code = _exit_code(error)
    except BaseException as error:
        exit_code = 130 if isinstance(error, KeyboardInterrupt) else 1
        if not started:
            note_syntax_error()
        elif isinstance(error, MemoryError):
            note_memory_error()
            main.__dict__.clear()
            gc.collect()
        try:
            report(error, own_files, started)
        except BaseException:
            os.write(2, (type(error).__name__ + '\n').encode())
    for stream in (sys.stdout, sys.stderr):
        try:
            if not stream.closed:
                stream.flush()
        except BaseException:
            exit_code = exit_code or 1
    os._exit(exit_code)
