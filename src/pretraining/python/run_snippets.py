"""
Runs many short programs in one process, one after the other, and reports what each would have printed on its own. Meant to run inside
the sandbox. Input: one JSON object `{"program": source of the sandbox's program.py, "codes": [...]}`; output: one JSON line a code,
`[stdout, stderr, exit code]`. For programs that we wrote ourselves: they share the process, its memory and its time limit.
"""
import contextlib
import io
import json
import linecache
import sys
import types

request = json.load(sys.stdin)
program = types.ModuleType('program')
exec(compile(request['program'], '<program>', 'exec'), program.__dict__)


def run(code):
    out, err = io.StringIO(), io.StringIO()
    linecache.cache[program.FILE_NAME] = (len(code), None, code.splitlines(True), program.FILE_NAME)
    started, exit_code = False, 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            parts = program.compile_program(code, True)
            started = True
            main = types.ModuleType('__main__').__dict__
            for part in parts:
                exec(part, main)
        except Exception as error:
            exit_code = 1
            if started:
                error.__traceback__ = error.__traceback__.tb_next
            program.report(error, {'<program>'}, started)
    return out.getvalue(), err.getvalue(), exit_code


answers = [json.dumps(run(code)) for code in request['codes']]
print('\n'.join(answers))
