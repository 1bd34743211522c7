"""
Judging a program that may try to cheat. Two tasks, each in processes that `supervisor.py` has made and isolated.

`call`: loads the program, calls one function and reports its result as JSON. The expected result is not here: it is compared outside.

`check` and `serve`: a test program and the program under test (the candidate), in two processes. The tests run in the first, which alone can
report; their entry point is a stand-in that sends the arguments to the second and gets plain data back (`plain_data.py`). So nothing of the
candidate runs where the tests are: no patched ==, no exit, no look at frames or memory reaches them.
"""
import ast
import builtins
import importlib
import json
import os
import re
import struct
import sys
import traceback
import types

from plain_data import Decoder, Encoder, Unshippable

REPORT, SECRET = 5, 6
MODULE = 'solution'
LONGEST_TEXT = 500
ENTRY, ROOT = 0, 1  # numbers of what the tests reach without having been given it
LARGEST_MESSAGE = 1 << 28
# What an editor for such tasks imports before the program; searched in this order for names that a program uses and does not define.
OFFERED = ('math', 'collections', 'heapq', 'bisect', 'itertools', 'functools', 'operator', 'string', 're', 'random', 'copy', 'datetime',
           'statistics', 'sys', 'json', 'typing')


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


# The candidate alone


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


# Talk between the two sides


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
MISSING_NAME = re.compile(r"name '(\w+)' is not defined")


def root_of(entry_point):
    """`Solution` of `Solution().add`."""
    return FIRST_NAME.match(entry_point)[1]


def run_prefix(prefix, space):
    if prefix:
        exec(compile(prefix, '<prefix>', 'exec', dont_inherit=True), space)


def shared_classes(space):
    """Classes that the prefix defines: both sides have them, so their objects can travel."""
    return {name: value for name, value in space.items() if isinstance(value, type) and value.__module__ == MODULE}


# The candidate's side


def serve(socket, code, prefix, entry_point):
    """Loads the candidate and answers calls until the other side hangs up. Never returns."""
    connection = Connection(socket)
    held = {}
    try:
        connection.send({'up': True})
        connection.receive()  # the tests' side is ready
        space = new_module(MODULE)
        run_prefix(prefix, space)
        shared = set(shared_classes(space))
        try:
            compiled = compile(code, '<code>', 'exec', dont_inherit=True)
        except BaseException as error:
            connection.send({'fault': 'compile', 'text': safe_text(error)})
            leave(1)
        exec(compiled, space)
        held[ENTRY] = eval(entry_point, space)
        held[ROOT] = space.get(root_of(entry_point))
    except BaseException as error:
        connection.send({'fault': 'memory' if isinstance(error, MemoryError) else 'run', 'text': safe_text(error)})
        leave(1)
    connection.send({'ready': True})
    numbers = {}

    def hold(value):
        number = numbers.get(id(value))
        if number is None:
            number = numbers[id(value)] = len(held)
            held[number] = value
        return number

    while True:
        request = connection.receive()
        if request is None:
            leave(0)
        classes = {name: space[name] for name in shared if isinstance(space.get(name), type)}
        try:
            connection.send(answer(request, held, hold, classes))
        except BaseException as error:
            message = {'error': [kind.__name__ for kind in type(error).__mro__], 'text': safe_text(error)}
            connection.send({'fault': 'memory', 'text': message['text']} if isinstance(error, MemoryError) else message)


def answer(request, held, hold, classes):
    target = held[request['target']]
    if 'attribute' in request:
        encoder = Encoder(classes, hold)
        value = encoder.value(getattr(target, request['attribute']))
        return {'value': value, 'nodes': encoder.nodes(), 'changed': {}}
    decoder = Decoder(classes, lambda number, _: held[number])
    decoder.add(request['nodes'])
    positional = [decoder.value(part) for part in request['positional']]
    named = {name: decoder.value(part) for name, part in request['named'].items()}
    result = target(*positional, **named)
    if result is not None:
        encoder = Encoder(classes, hold)
        value = encoder.value(result)
        return {'value': value, 'nodes': encoder.nodes(), 'changed': {}}
    # It works in place: its arguments' new content goes back.
    encoder = Encoder(classes, hold, decoder.objects)
    changed = {}
    for index, node in enumerate(request['nodes']):
        if node[0] in 'lsdqo':
            now = encoder.node(decoder.objects[index])
            if now != node:
                changed[index] = now
    return {'value': None, 'nodes': encoder.nodes(), 'changed': changed}


# The tests' side


class CandidateGone(Exception):
    """The candidate's process has ended or does not follow the protocol."""

    def __init__(self, fault, text):
        super().__init__(text)
        self.fault = fault


class Unsuitable(Exception):
    """The tests do something that no candidate can be blamed for."""


class Candidate:
    """The other process, from here."""

    def __init__(self, connection, classes):
        self.connection, self.classes = connection, classes
        self.gone = None
        self.ready = False
        self.calls = 0
        self.raised = []

    def entry(self):
        return Remote(self, ENTRY, 'the entry point')

    def get_ready(self):
        if not self.ready:
            if self.connection.receive() != {'up': True}:
                report({'lost': 'the program has no process'})
                os._exit(0)
            message = self.connection.receive()
            if message != {'ready': True}:
                self.lost(message)
            self.ready = True

    def lost(self, message):
        message = message if isinstance(message, dict) else {}
        fault = message.get('fault')
        known = fault if fault in ('compile', 'memory') else 'run'
        text = str(message.get('text', 'the program ended'))[:LONGEST_TEXT]
        self.gone = CandidateGone(known, text)
        raise self.gone

    def ask(self, request, known):
        self.calls += 1
        if self.gone is not None:
            raise self.gone
        try:
            self.get_ready()
            self.connection.send(request)
            message = self.connection.receive()
        except (OSError, AttributeError, TypeError):
            message = None
        if not isinstance(message, dict) or 'fault' in message:
            self.lost(message)
        try:
            if 'error' in message:
                error = own_error([str(name) for name in message['error']], str(message['text'])[:LONGEST_TEXT])
            else:
                in_place = message['value'] is None
                decoder = Decoder(self.classes, lambda number, name: Remote(self, number, name), known if in_place else ())
                decoder.add(message['nodes'])
                for index, node in message['changed'].items() if in_place else ():
                    decoder.fill(int(index), node)
                return decoder.value(message['value'])
        except Exception as fault:
            error = RuntimeError('the result could not be read: %s' % fault)
        self.raised.append(error)
        raise error

    def call(self, number, positional, named):
        encoder = Encoder(self.classes, lambda value: value._number if isinstance(value, Remote) else None)
        try:
            request = {
                'target': number,
                'positional': [encoder.value(part) for part in positional],
                'named': {name: encoder.value(part) for name, part in named.items()},
                'nodes': encoder.nodes(),
            }
        except Unshippable as error:
            raise Unsuitable('the tests pass %s to the program, which cannot be sent to it' % error)
        return self.ask(request, encoder.objects)


def own_error(names, text):
    """An error of this side's own, of the nearest built-in kind."""
    for name in names:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            try:
                return kind(text)
            except TypeError:
                continue
    return RuntimeError(text)


class Remote:
    """Stands for something of the candidate's. It can be called and asked for attributes; what it says of itself otherwise counts nothing."""

    __slots__ = ('_candidate', '_number', '_kind')

    def __init__(self, candidate, number, kind):
        self._candidate, self._number, self._kind = candidate, number, kind

    def __call__(self, *positional, **named):
        return self._candidate.call(self._number, positional, named)

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)
        return self._candidate.ask({'target': self._number, 'attribute': name}, ())

    def _refuse(self, *_):
        error = TypeError('the program gave an object of its own type %s, which cannot be compared from outside' % self._kind)
        self._candidate.raised.append(error)
        raise error

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = _refuse
    __hash__ = object.__hash__


def check(socket, task):
    """Runs the tests against the candidate on the other end of `socket`, reports, and ends the process."""
    tests = whole(SECRET).decode('utf-8', 'surrogatepass')
    space = new_module(MODULE)
    connection = Connection(socket)
    connection.send({'go': True})
    try:
        run_prefix(task['prefix'], space)
        candidate = Candidate(connection, shared_classes(space))
        plan = Plan(ast.parse(tests, '<tests>'))
        space[root_of(task['entryPoint'])] = Remote(candidate, ROOT, 'the entry point')
        run_plan(plan, space, candidate, task['skip'])
        if task['skip'] == 0 and candidate.calls == 0:
            raise Unsuitable('the tests never call the entry point')
    except Unsuitable as error:
        report({'broken': str(error)})
    except BaseException as error:
        report({'broken': 'the tests do not run: %s' % safe_text(error)})
    os._exit(0)


class Step:
    """Statements that run together; `is_case` if they judge something."""

    def __init__(self, statements, is_case):
        self.code = compile(ast.Module(statements, []), '<tests>', 'exec', dont_inherit=True)
        self.is_case = is_case


class Plan:
    """The test program in steps: its top level, then the body of `check`."""

    def __init__(self, tree):
        self.tree = tree
        check = next((node for node in reversed(tree.body) if isinstance(node, ast.FunctionDef) and node.name == 'check'), None)
        self.parameter = None
        self.inside = []
        if check is None:
            self.outside = steps_of(tree.body)
            if not any(step.is_case for step in self.outside):
                self.outside = [Step(tree.body, True)]
            return
        self.outside = steps_of([node for node in tree.body if not calls_check(node)])
        self.parameter = check.args.args[0].arg if check.args.args else None
        if self.parameter is None:
            raise Unsuitable('the tests\' function check takes no candidate')
        inside = None if keeps_to_itself(check) else steps_of(check.body)
        if inside is None or not any(step.is_case for step in inside):
            inside = [Step([ast.parse('check(%s)' % self.parameter).body[0]], True)]
        self.inside = inside


    def defines(self, name):
        return any(isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) for node in ast.walk(self.tree))


def calls_check(node):
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == 'check'


def keeps_to_itself(function):
    """Whether the body means something only inside its function."""
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
        elif any(isinstance(inner, ast.Nonlocal) for inner in ast.walk(node)):
            return True
    return False


def steps_of(body):
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [Step([node], not isinstance(node, definitions) and any(isinstance(inner, ast.Assert) for inner in ast.walk(node))) for node in body]


def run_plan(plan, space, candidate, skip):
    report({'total': sum(step.is_case for step in plan.outside + plan.inside)})
    number = 0
    scope = space
    for step in plan.outside + plan.inside:
        if scope is space and step in plan.inside:
            scope = dict(space)
            scope[plan.parameter] = candidate.entry()
        if not step.is_case:
            prepare(step, scope, candidate, plan)
        elif number < skip:
            number += 1
        else:
            report({'case': number, **outcome(step, scope, candidate, plan)})
            number += 1
            if candidate.gone is not None:
                return


def prepare(step, scope, candidate, plan):
    try:
        exec(step.code, scope)
    except Unsuitable:
        raise
    except BaseException as error:
        if candidate.calls == 0:
            raise
        check_names(error, scope, plan)  # else it may be the candidate's: what it returned is worked on here


def outcome(step, scope, candidate, plan):
    try:
        exec(step.code, scope)
        failure = candidate.gone  # a test that takes any error for the right one does not take this one
    except Unsuitable:
        raise
    except BaseException as error:
        failure = candidate.gone or error
    return {'ok': True} if failure is None else {'ok': False, **blame(failure, scope, candidate, plan)}


def blame(error, scope, candidate, plan):
    if isinstance(error, CandidateGone):
        return {'fault': error.fault, 'text': str(error)}
    if any(error is raised for raised in candidate.raised):
        return {'fault': 'run', 'text': safe_text(error)}
    check_names(error, scope, plan)
    return {'fault': 'mismatch', 'text': safe_text(error)}


def check_names(error, scope, plan):
    missing = MISSING_NAME.match(str(error)) if isinstance(error, NameError) else None
    if missing and missing[1] not in scope and not plan.defines(missing[1]):
        raise Unsuitable('the tests use %s, which they do not define' % missing[1])
