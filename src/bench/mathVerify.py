"""Grades pairs with Math-Verify, one JSON object a line in and out. Runs in an environment that has `math-verify`; see grade.ts.

In: {"gold": LaTeX, "answer": text with a box}. Out: {"equal": bool, "seconds": float}; the first line is {"version": str}. Parsing the
gold is part of the time, as in a reward function. Its own time limits are on, as they are by default.
"""

import json
import logging
import sys
import time
from importlib.metadata import version

from math_verify import parse, verify

logging.disable(logging.CRITICAL)


def equal(gold: str, answer: str) -> bool:
    try:
        return bool(verify(parse(gold), parse(answer)))
    except Exception:
        return False


def main() -> None:
    rows = [json.loads(line) for line in sys.stdin]
    print(json.dumps({"version": version("math-verify")}))
    for row in rows[:20]:
        equal(row["gold"], row["answer"])
    for row in rows:
        started = time.perf_counter()
        found = equal(row["gold"], row["answer"])
        print(json.dumps({"equal": found, "seconds": time.perf_counter() - started}))


main()
