"""Parses a program and, where asked, makes its function a method of `class Solution`. Reads and writes JSON; runs nothing of the program."""
import ast
import json
import sys


def prepared(source, function):
    """The program as the released grader submits it; None where it has no such function at its top level."""
    tree = ast.parse(source)
    if function is None:
        return source
    chosen = None
    rest = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            chosen = node
        else:
            rest.append(node)
    if chosen is None:
        return None
    names = chosen.args.args
    if not names or names[0].arg != "self":
        names.insert(0, ast.arg(arg="self", annotation=None))
    holder = ast.parse("class Solution:\n    pass").body[0]
    holder.body = [chosen]
    tree.body = rest + [holder]
    return ast.unparse(tree)


asked = json.load(sys.stdin)
try:
    answer = {"parsed": True, "program": prepared(asked["source"], asked.get("function"))}
except Exception:
    answer = {"parsed": False}
print(json.dumps(answer))
