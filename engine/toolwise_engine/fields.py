"""Readers of JSON fields that answer a wrong value with one sentence: which field, what was expected, what came.

Hand-written because token lists are long and requests many: a list is checked by passes that run in C, item by item only if wrong.
"""

from __future__ import annotations

import math
import re
from typing import Any, NoReturn

from toolwise_engine.errors import user_error

IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MODEL_ID = re.compile(r"[a-zA-Z0-9_:-]{1,128}")
_INT = frozenset((int,))
_NUMBER = frozenset((int, float))
_MISSING = object()


def refuse(field: str, expected: str, value: Any = _MISSING) -> NoReturn:
    """Refuse a request for one of its fields."""
    came = "is missing" if value is _MISSING else f"is {shown(value)}"
    raise user_error(f"{field} {came}: expected {expected}.")


def shown(value: Any) -> str:
    """A value as an error shows it: short, and lists by their length."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}..."'
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    return str(value)


def get_object(body: dict, field: str, name: str | None = None) -> dict:
    value = body.get(field, _MISSING)
    if type(value) is not dict:
        refuse(name or field, "an object", value)
    return value


def get_list(body: dict, field: str, name: str | None = None) -> list:
    value = body.get(field, _MISSING)
    if type(value) is not list:
        refuse(name or field, "a list", value)
    return value


def get_text(body: dict, field: str, expected: str = "a string") -> str:
    value = body.get(field, _MISSING)
    if type(value) is not str or not value:
        refuse(field, expected, value)
    return value


def get_optional_text(body: dict, field: str) -> str | None:
    value = body.get(field)
    if value is not None and (type(value) is not str or not value):
        refuse(field, "a string", value)
    return value


def get_identifier(body: dict, field: str, name: str | None = None) -> str:
    value = body.get(field, _MISSING)
    pattern = MODEL_ID if field in ("model_id", "training_run_id") else IDENTIFIER
    if type(value) is not str or not pattern.fullmatch(value):
        refuse(name or field, "letters, digits, _ and - (at most 128)", value)
    return value


def get_bool(body: dict, field: str, default: bool, name: str | None = None) -> bool:
    value = body.get(field)
    if value is None:
        return default
    if type(value) is not bool:
        refuse(name or field, "true or false", value)
    return value


def get_int(body: dict, field: str, default: int | None, low: int, high: int, name: str | None = None) -> int:
    """A whole number in [low, high]; without a default it must be there."""
    value = body.get(field)
    if value is None:
        if default is None:
            refuse(name or field, f"a whole number from {low} to {high}", value if field in body else _MISSING)
        return default
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not low <= value <= high:
        refuse(name or field, f"a whole number from {low} to {high}", value)
    return value


def get_number(body: dict, field: str, default: float | None, low: float, high: float, name: str | None = None) -> float:
    """A finite number in [low, high]; without a default it must be there."""
    value = body.get(field)
    if value is None:
        if default is None:
            refuse(name or field, f"a number {bounds(low, high)}", value if field in body else _MISSING)
        return default
    if type(value) not in _NUMBER or not low <= value <= high:
        refuse(name or field, f"a number {bounds(low, high)}", value)
    return float(value)


def bounds(low: float, high: float) -> str:
    return f"of at least {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"


def check_tokens(tokens: Any, field: str, vocabulary: int) -> list[int]:
    """A list of token ids in [0, vocabulary)."""
    if type(tokens) is not list:
        refuse(field, "a list of token ids", tokens)
    if not tokens:
        return tokens
    if set(map(type, tokens)) != _INT:
        at = next(i for i, token in enumerate(tokens) if type(token) is not int)
        refuse(f"{field}[{at}]", "a token id (a whole number)", tokens[at])
    if min(tokens) < 0 or max(tokens) >= vocabulary:
        at = next(i for i, token in enumerate(tokens) if not 0 <= token < vocabulary)
        refuse(f"{field}[{at}]", f"a token id from 0 to {vocabulary - 1}", tokens[at])
    return tokens


def check_numbers(numbers: Any, field: str, length: int) -> list[float]:
    """A list of `length` finite numbers."""
    if type(numbers) is not list:
        refuse(field, "a list of numbers", numbers)
    if len(numbers) != length:
        refuse(field, f"a list of {length}, one a target", numbers)
    if not set(map(type, numbers)) <= _NUMBER:
        at = next(i for i, number in enumerate(numbers) if type(number) not in _NUMBER)
        refuse(f"{field}[{at}]", "a number", numbers[at])
    return numbers
