"""The candidate's side of an assertion program: loads the program and answers the calls that come. Knows nothing of the tests."""
from plain_data import Decoder, Encoder
from reports import MODULE, leave, new_module, safe_text
from talk import ENTRY, ROOT, Connection, root_of, run_prefix, shared_classes


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
