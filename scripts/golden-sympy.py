"""Makes test/golden/grading-sympy.jsonl: 1,000 pairs of answers, equal by rewriting or unequal by one changed coefficient.

    python3 scripts/golden-sympy.py > test/golden/grading-sympy.jsonl
    python3 scripts/golden-sympy.py SEED PAIRS     others of the kind, for a wider look

Seeded; written with SymPy 1.11.1 (another version may print or rewrite otherwise). A pair enters only when its truth is settled twice, by exact
simplification and by values at random points. No identity of trigonometry is among the rewritings: those are no change of spelling.
"""

import json
import random
import re
import sys

import sympy as sp

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 20
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
UNEQUAL = PAIRS * 2 // 5
LONGEST = 240

x, y, n, t = sp.symbols("x y n t")
rng = random.Random(SEED)


def integer(low, high):
    """An integer in [low, high], not zero."""
    while True:
        value = rng.randint(low, high)
        if value:
            return sp.Integer(value)


def fraction():
    return sp.Rational(integer(-12, 12), rng.choice([2, 3, 4, 5, 6, 7, 9, 11]))


def linear(v):
    return integer(-5, 5) * v + integer(-9, 9)


def numbers():
    """Sums and products of fractions, unevaluated so that there is something to carry out."""
    a, b, c = fraction(), fraction(), fraction()
    return rng.choice(
        [
            sp.Add(a, b, evaluate=False),
            sp.Add(sp.Mul(a, b, evaluate=False), c, evaluate=False),
            sp.Pow(sp.Add(a, integer(1, 4), evaluate=False), 2, evaluate=False),
            sp.Add(sp.Pow(integer(2, 9), rng.randint(5, 30), evaluate=False), a, evaluate=False),
        ]
    )


def surds():
    root = sp.sqrt(rng.choice([2, 3, 5, 6, 7, 10]))
    other = sp.sqrt(rng.choice([2, 3, 5, 7, 11, 13]))
    return rng.choice(
        [
            integer(1, 9) / (integer(1, 6) + root),
            (integer(-6, 6) + integer(1, 4) * root) ** 2,
            (integer(-6, 6) + root) * (integer(-6, 6) + other),
            (root + other) ** 2 / integer(2, 7),
            integer(1, 9) / (root + other) if root != other else 1 / root,
            sp.cbrt(rng.choice([2, 3, 5, 7])) * integer(2, 6) + fraction(),
            sp.Mul(integer(2, 9), sp.Pow(root, -1), evaluate=False),
        ]
    )


def polynomials():
    v = rng.choice([x, y, n, t])
    return rng.choice(
        [
            linear(v) * linear(v),
            linear(v) * linear(v) * linear(v),
            (integer(1, 4) * x + integer(-4, 4) * y) ** rng.choice([2, 3]),
            linear(v) ** 2 - integer(1, 9),
            (x**2 + integer(-5, 5) * x * y + y**2) * linear(x),
            fraction() * v * linear(v),
        ]
    )


def quotients():
    v = rng.choice([x, n, t])
    return rng.choice(
        [
            integer(-6, 6) / linear(v) + integer(-6, 6) / linear(v),
            linear(v) / linear(v) + integer(-4, 4),
            (linear(v) * linear(v)) / (v**2 + integer(1, 5)),
            integer(1, 6) / v + integer(1, 6) / v**2,
            (integer(1, 5) * x + integer(1, 5) * y) / (x * y),
        ]
    )


def constants():
    return rng.choice(
        [
            sp.pi * fraction() + fraction(),
            (integer(1, 5) + integer(1, 5) * sp.pi) * integer(2, 6),
            sp.E ** integer(-3, 3) * fraction() + integer(-5, 5),
            sp.log(rng.choice([2, 3, 5, 7])) * fraction() + integer(1, 6),
            sp.pi * surds(),
        ]
    )


def complexes():
    def one():
        return integer(-7, 7) + integer(-7, 7) * sp.I

    return rng.choice([lambda: one() * one(), lambda: one() / one(), lambda: one() ** 2 + fraction(), lambda: sp.sqrt(2) * one() / integer(2, 5)])()


def functions():
    f = rng.choice([sp.sin, sp.cos, sp.exp, sp.log])
    inner = integer(1, 4) * x + integer(1, 5)
    return rng.choice(
        [
            (integer(-4, 4) * f(inner) + integer(-4, 4)) * linear(x),
            linear(x) * linear(x) * f(inner),
            (f(inner) + integer(1, 4)) ** 2,
            sp.sqrt(linear(y) ** 2 + integer(1, 9)) * linear(x),
        ]
    )


KINDS = [numbers, surds, polynomials, polynomials, quotients, quotients, constants, complexes, functions]

REWRITINGS = {
    "printed in another way": lambda e: e,
    "expanded": sp.expand,
    "factored": sp.factor,
    "over one denominator": sp.together,
    "in partial fractions": lambda e: sp.apart(e) if len(e.free_symbols) == 1 else e,
    "denominator made rational": sp.radsimp,
    "cancelled": sp.cancel,
    "carried out": lambda e: e.doit() if e.free_symbols else sp.nsimplify(e.doit()),
    "expanded, then factored": lambda e: sp.factor(sp.expand(e)),
}



def latex(e, **style):
    return sp.latex(e, ln_notation=True, **style)


def plain(e):
    """As a program would print it, with the usual names of e, the imaginary unit and the natural logarithm."""
    return re.sub(r"\bI\b", "i", re.sub(r"\bE\b", "e", sp.sstr(e))).replace("log(", "ln(")


def caret(e):
    """The plain text with `^`; an exponent of several characters keeps `**`, since LaTeX would read its first one alone."""
    return re.sub(r"\*\*(?=\(|\d(?!\d))", "^", plain(e))


PRINTERS = [
    latex,
    lambda e: latex(e, order="rev-lex"),
    lambda e: latex(e, fold_short_frac=True),
    lambda e: latex(e, mul_symbol="dot"),
    lambda e: latex(e, mul_symbol="times"),
    lambda e: latex(e, fold_frac_powers=True),
    lambda e: latex(e, root_notation=False),
    lambda e: latex(e).replace(r"\frac", r"\dfrac"),
    lambda e: latex(e).replace(r"\left", "").replace(r"\right", ""),
    plain,
    caret,
]

# What the printer means in one way and a reader may take in another: `1 / 2 x` as 1/(2x), `5 \frac{a}{b}` as a product,
# `(3) 1`, `4 2^{1/2}`, `\ln{(x)}^{2}`.
AMBIGUOUS = re.compile(r"/ [^ )}]+ (?![-+)}/]|\\right)|\d \\d?frac|\) \d|\)\}\^|\d \d")


def values(e):
    """At fixed points, to fifty digits."""
    points = [{x: sp.Rational(7, 3), y: sp.Rational(11, 5), n: sp.Rational(13, 4), t: sp.Rational(17, 7)},
              {x: sp.Rational(31, 8), y: sp.Rational(5, 9), n: sp.Rational(23, 6), t: sp.Rational(19, 3)}]
    return [sp.N(e.subs(point), 50) for point in points]


def same(a, b):
    return all(abs(u - v) < sp.Float("1e-40") * (1 + abs(u)) for u, v in zip(values(a), values(b)))


def finite(e):
    return not e.has(sp.zoo, sp.nan, sp.oo, sp.Float) and all(v.is_number and v.is_finite for v in values(e))


def changed(e):
    """One integer of the tree, not an exponent, is moved by one or turned in sign."""
    spots = []

    def walk(node, path):
        for i, part in enumerate(node.args):
            if node.is_Pow and i == 1:
                continue
            if part.is_Rational and part not in (sp.Integer(-1),):
                spots.append((*path, i))
            walk(part, (*path, i))

    walk(e, ())
    if not spots:
        return e + integer(-2, 2) if e.is_Rational else None
    spot = rng.choice(spots)

    def put(node, path):
        if not path:
            return rng.choice([node + 1, node - 1, -node])
        parts = list(node.args)
        parts[path[0]] = put(parts[path[0]], path[1:])
        return node.func(*parts)

    return put(e, spot)


def equation(e):
    """The expression as one side, everything else moved: equal up to a factor."""
    factor = integer(-4, 4)
    return sp.latex(e) + " = 0", sp.latex(sp.expand(factor * e)) + " = 0"


def main():
    rows, seen = [], set()
    equal = unequal = 0
    while len(rows) < PAIRS:
        e = rng.choice(KINDS)()
        want = unequal >= UNEQUAL or (equal < PAIRS - UNEQUAL and rng.random() < 0.6)
        name = rng.choice(list(REWRITINGS))
        shown, hidden = rng.sample(PRINTERS, 2)
        try:
            other = REWRITINGS[name](e)
            if not finite(e) or not same(e, other):
                continue
            if sp.simplify(e - other) != 0:
                continue
            if not want:
                other = changed(other)
                if other is None or not finite(other) or same(e, other):
                    continue
                name = "a coefficient changed"
        except (TypeError, ValueError, NotImplementedError, sp.PolynomialError, ZeroDivisionError):
            continue
        gold, answer = shown(e), hidden(other)
        if want and e.free_symbols == {x, y} and e.is_polynomial() and rng.random() < 0.5:
            gold, answer = equation(e)
            name = "an equation times a number"
        if AMBIGUOUS.search(gold) or AMBIGUOUS.search(answer):
            continue
        if gold == answer or (gold, answer) in seen or len(gold) + len(answer) > LONGEST:
            continue
        seen.add((gold, answer))
        equal, unequal = equal + want, unequal + (not want)
        rows.append({"id": f"sympy-{len(rows) + 1}", "kind": "math", "gold": gold, "answer": answer, "equal": want, "note": name})
    for row in rows:
        sys.stdout.write(json.dumps(row, separators=(",", ":")) + "\n")


main()
