"""
Values as plain data, so that two processes can hand them to each other although one of them is not to be trusted: what arrives is made of
the receiver's own types, and nothing of the sender's runs there.

A value is a JSON scalar, or [index] of a node in a table; nodes hold values in turn, so cycles, shared parts and any depth are written
without recursion. Nodes: ["l", ...] list, ["t", ...] tuple, ["s", ...] set, ["f", ...] frozenset, ["q", ...] deque, ["i", ...] iterator,
["d", key, value, ...] dict, ["b", text] bytes, ["c", real, imaginary], ["r", start, stop, step] range, ["o", class, name, value, ...] an
object of a class that both sides know, ["h", number, class] an object that stays where it is.
"""
import collections
import itertools
import types

SCALARS = (bool, int, float, str)
SEQUENCES = ((list, 'l'), (tuple, 't'), (set, 's'), (frozenset, 'f'), (collections.deque, 'q'))
ITERATORS = (types.GeneratorType, map, filter, zip, enumerate, reversed, type(iter([])), type(iter(())), type(iter({})), type(iter(set())))
BY_CODE = {'l': list, 's': set, 'd': dict, 'q': collections.deque}
LONGEST_ITERATOR = 1 << 20


class Unshippable(Exception):
    """A value that cannot leave its process."""


class Encoder:
    """
    `classes`: name to class, of objects that travel by their attributes. `hold`: object to number, for those that stay; absent: refused.
    `known`: objects the other side has already, by their index there.
    """

    def __init__(self, classes, hold=None, known=()):
        self.classes, self.hold = classes, hold
        self.objects = list(known)
        self.index = {id(value): index for index, value in enumerate(self.objects) if value is not None}
        self.first = len(self.objects)

    def value(self, value):
        """The value's reference. Its nodes, and those it refers to, come from `nodes`."""
        if value is None or type(value) in SCALARS:
            return value
        for kind in SCALARS:
            if isinstance(value, kind):
                return kind.__str__(value) if kind is str else kind(value)
        if type(value).__module__ == 'numpy':
            plain = value.tolist()
            if type(plain) is not type(value):
                return self.value(plain)
        index = self.index.get(id(value))
        if index is None:
            index = self.index[id(value)] = len(self.objects)
            self.objects.append(value)
        return [index]

    def nodes(self):
        """Nodes of all objects that the other side does not have yet, from index `first` on."""
        found = []
        while self.first + len(found) < len(self.objects):
            found.append(self.node(self.objects[self.first + len(found)]))
        return found

    def node(self, value):
        for kind, code in SEQUENCES:
            if isinstance(value, kind):
                return [code, *map(self.value, kind.__iter__(value))]
        if isinstance(value, dict):
            return ['d', *(self.value(part) for pair in dict.items(value) for part in pair)]
        if isinstance(value, (bytes, bytearray)):
            return ['b', bytes(value).decode('latin-1')]
        if isinstance(value, complex):
            return ['c', value.real, value.imag]
        if isinstance(value, range):
            return ['r', value.start, value.stop, value.step]
        if isinstance(value, ITERATORS):
            return ['i', *map(self.value, itertools.islice(value, LONGEST_ITERATOR))]
        name = type(value).__name__
        if name in self.classes:
            return ['o', name, *(self.value(part) for pair in attributes(value) for part in pair)]
        number = None if self.hold is None else self.hold(value)
        if number is None:
            raise Unshippable('an object of type %s' % name)
        return ['h', number, name]


def attributes(value):
    pairs = list(getattr(value, '__dict__', {}).items())
    for kind in type(value).__mro__:
        slots = kind.__dict__.get('__slots__', ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and not name.startswith('__'):
                pairs.append((name, getattr(value, name)))
    return pairs


class Decoder:
    """`classes` as above; `held(number, class name)` gives the receiver's stand-in for an object that stayed behind."""

    def __init__(self, classes, held, known=()):
        self.classes, self.held = classes, held
        self.objects = list(known)

    def add(self, nodes):
        """Takes the next nodes of the table. Raises ValueError, TypeError or KeyError on what no encoder writes."""
        first = len(self.objects)
        self.pending = dict(enumerate(nodes, first))
        self.objects += [None] * len(nodes)
        for index, node in self.pending.items():
            code = node[0]
            if code in BY_CODE:
                self.objects[index] = BY_CODE[code]()
            elif code == 'o':
                kind = self.classes[node[1]]
                self.objects[index] = object.__new__(kind)
        for index, node in self.pending.items():
            self.made(index, node)
        ordered = sorted(self.pending.items(), key=lambda item: item[1][0] in 'sd')  # their members need whole objects to be hashed
        for index, node in ordered:
            self.fill(index, node)
        self.pending = {}

    def made(self, index, node):
        """The object at `index`; those that cannot be filled later are built from their parts, parts first."""
        if self.objects[index] is not None:
            return self.objects[index]
        code, parts = node[0], node[1:]
        if code in 'tf':
            value = (tuple if code == 't' else frozenset)(self.value(part) for part in parts)
        elif code == 'i':
            value = iter([self.value(part) for part in parts])
        elif code == 'b':
            value = parts[0].encode('latin-1')
        elif code == 'c':
            value = complex(*map(float, parts))
        elif code == 'r':
            value = range(*parts)
        elif code == 'h':
            value = self.held(int(parts[0]), str(parts[1]))
        else:
            raise ValueError('unknown code')
        self.objects[index] = value
        return value

    def value(self, reference):
        if reference is None or type(reference) in SCALARS:
            return reference
        (index,) = reference
        return self.made(index, self.pending[index]) if index in self.pending else self.objects[index]

    def fill(self, index, node):
        """Puts the node's content into its object, in place of what is there."""
        code, target = node[0], self.objects[index]
        parts = [self.value(part) for part in (node[2:] if code == 'o' else node[1:])]
        if code == 'l':
            target[:] = parts
        elif code in 'sq':
            target.clear()
            (target.update if code == 's' else target.extend)(parts)
        elif code == 'd':
            target.clear()
            target.update(zip(parts[::2], parts[1::2]))
        elif code == 'o':
            for name, value in zip(parts[::2], parts[1::2]):
                if type(name) is not str or name.startswith('__'):
                    raise ValueError('a strange attribute')
                object.__setattr__(target, name, value)
