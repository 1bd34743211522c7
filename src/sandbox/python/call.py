"""
Loads a program, calls one function of it and reports its result as JSON. The expected result is not here: it is compared outside.
"""
import ast
import builtins
import importlib
import json
import os

from reports import MODULE, REPORT, leave, new_module, report, safe_text

# What an editor for such tasks imports before the program; searched in this order for names that a program uses and does not define.
OFFERED = ('math', 'collections', 'heapq', 'bisect', 'itertools', 'functools', 'operator', 'string', 're', 'random', 'copy', 'datetime',
           'statistics', 'sys', 'json', 'typing')


def call(code, name, arguments, note_memory_error):
    """Reports {"value"} or {"fault", "text"} and ends the process."""
    stage = 'compile'
    try:
        given = json.loads(arguments)
        tree = ast.parse(code, '<code>')
        compiled = compile(tree, '<code>', 'exec', dont_inherit=True)
        stage = 'run'
        space = new_module(MODULE)
        offer_names(tree, space)
        exec(compiled, space)
        message = {'value': find_function(space, name)(*given)}
        data = json.dumps(message, default=plainer).encode()
    except BaseException as error:
        if isinstance(error, MemoryError):
            note_memory_error()
        report({'fault': stage, 'text': safe_text(error)})
        leave(1)
    while data:
        data = data[os.write(REPORT, data):]
    leave(0)


def find_function(space, name):
    owner = space.get('Solution')
    if isinstance(owner, type) and hasattr(owner, name):
        return getattr(owner(), name)
    if callable(space.get(name)):
        return space[name]
    raise NameError('there is no function %s' % name)


def plainer(value):
    """What json does not know and Python compares like a list or a number."""
    if type(value).__module__ == 'numpy':
        return value.tolist()
    raise TypeError('the result holds an object of type %s' % type(value).__name__)


def offer_names(tree, space):
    loaded, bound = set(), set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            if node.name == '*':
                return
            bound.add((node.asname or node.name).partition('.')[0])
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    for name in loaded - bound:
        for module_name in OFFERED:
            module = importlib.import_module(module_name)
            if name == module_name or (hasattr(module, name) and not name.startswith('_')):
                space[name] = module if name == module_name else getattr(module, name)
                break
