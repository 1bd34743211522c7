"""What a Python holds before it forks programs: modules that they will import, and nothing that would show them ours."""
import gc
import os
import sys

# What programs import most; loaded once, here. (A fork costs by what the process holds: these add little.)
COMMON_MODULES = ('array', 'bisect', 'cmath', 'collections', 'copy', 'dataclasses', 'datetime', 'decimal', 'enum', 'fractions', 'functools',
                  'heapq', 'io', 'itertools', 'json', 'math', 'operator', 'queue', 'random', 're', 'statistics', 'string', 'time', 'typing')


def warm_up(sympy):
    """Fills sympy's caches and runs its late imports once: the first `solve` of a process takes 130 ms, later ones 2 ms."""
    x = sympy.Symbol('x')
    str(sympy.expand((x + 1) ** 3))
    sympy.solve(x**2 - 2 * x - 1, x)
    sympy.simplify((x**2 - 1) / (x - 1))
    sympy.integrate(x**2, x)
    sympy.limit(sympy.sin(x) / x, x, 0)
    sympy.N(sympy.sqrt(2) + sympy.pi, 20)


def load(modules, common):
    """Notes on those that could not be loaded. `common`: also what programs import most."""
    notes = []
    for name in modules:
        try:
            __import__(name)
        except ImportError as error:
            notes.append('%s not loaded: %s' % (name, error))
    if 'sympy' in sys.modules:
        warm_up(sys.modules['sympy'])
    for name in COMMON_MODULES if common else ():
        __import__(name)
    return notes


def hide(own_modules, own_folder):
    """Programs cannot import what is ours. Then all that is here is set apart from the garbage collector: a fork need not touch it."""
    for name in own_modules:
        sys.modules.pop(name, None)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or '.') != own_folder]
    if hasattr(sys, 'set_int_max_str_digits'):
        sys.set_int_max_str_digits(0)
    gc.collect()
    gc.freeze()
