"""
A test program as steps: its top level, then the body of `check`; what each comes to, and who is to blame. Does not know how the candidate is
reached.
"""
import ast
import re

from reports import report, safe_text

MISSING_NAME = re.compile(r"name '(\w+)' is not defined")


class CandidateGone(Exception):
    """The candidate's process has ended or does not follow the protocol."""

    def __init__(self, fault, text):
        super().__init__(text)
        self.fault = fault


class Unsuitable(Exception):
    """The tests do something that no candidate can be blamed for."""


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


def run(plan, space, candidate, skip):
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
