"""
The tests' side of an assertion program: runs the tests against the candidate in the other process, and reports. Nothing of the candidate's
ever runs here.
"""
import ast
import builtins
import os

import plan
from plain_data import Decoder, Encoder, Unshippable
from plan import Unsuitable
from reports import LONGEST_TEXT, MODULE, new_module, report, safe_text, whole
from talk import ENTRY, ROOT, Connection, root_of, run_prefix, shared_classes

SECRET = 6


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
        self.gone = plan.CandidateGone(known, text)
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
        steps = plan.Plan(ast.parse(tests, '<tests>'))
        space[root_of(task['entryPoint'])] = Remote(candidate, ROOT, 'the entry point')
        plan.run(steps, space, candidate, task['skip'])
        if task['skip'] == 0 and candidate.calls == 0:
            raise Unsuitable('the tests never call the entry point')
    except Unsuitable as error:
        report({'broken': str(error)})
    except BaseException as error:
        report({'broken': 'the tests do not run: %s' % safe_text(error)})
    os._exit(0)
