"""The source of a study's function, so that a result is known to be of the function as it is now."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from .parameters import key_of


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function and of those of its own module that it calls, directly or through each other.

    Of a function without text, typed at a prompt say, its code in words that change when it does.
    """
    own = getattr(function, "study_source", None)
    if isinstance(own, str):
        return own
    parts = [_text(part) for part in _with_called(function)]
    if isinstance(function, functools.partial):
        given = [*enumerate(function.args), *sorted(function.keywords.items())]
        parts.append(repr([(name, _given(value)) for name, value in given]))
    return "\n\n".join(parts)


def digest(text: str) -> str:
    """A short name of a source."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def same(one: str, other: str) -> bool:
    """Whether two sources do the same, but for comments, docstrings and layout."""
    return one == other or _normalised(one) == _normalised(other)


def _with_called(function: Callable[..., Any]) -> Iterator[Any]:
    """The function, and the functions and classes of its module whose names its code uses."""
    plain = inspect.unwrap(getattr(function, "func", function))  # of functools.partial and of decorators
    if not isinstance(plain, FunctionType):
        plain = getattr(plain, "__func__", plain)
    if not isinstance(plain, FunctionType | type):  # an object that can be called
        if getattr(type(plain), "__repr__", None) != object.__repr__:  # no address in it: it tells what the object is
            yield plain
        plain = type(plain)
    yield plain
    seen, open_ends = {id(plain)}, [plain]
    while open_ends:
        part = open_ends.pop(0)
        if not isinstance(part, FunctionType):
            continue
        for name in _names(part.__code__):
            other = part.__globals__.get(name)
            if id(other) in seen or getattr(other, "__module__", None) != part.__module__:
                continue
            if isinstance(other, FunctionType | type):
                seen.add(id(other))
                open_ends.append(other)
                yield other


def _names(code: CodeType) -> Iterator[str]:
    """The names that a code looks up, those of the functions inside it among them, in order."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _given(value: Any) -> str:
    """An argument of a functools.partial in words that change when it does, as far as that can be told."""
    if isinstance(value, FunctionType):
        return _text(value)
    try:
        return key_of(value)
    except (TypeError, ValueError):
        return type(value).__qualname__


def _text(part: Any) -> str:
    if isinstance(part, FunctionType) and part.__name__ == "<lambda>":
        return _text_of_lambda(part) or "\n".join(_instructions(part.__code__))
    try:
        return textwrap.dedent(inspect.getsource(part)).strip()
    except (OSError, TypeError):
        code = getattr(part, "__code__", None)
        return repr(part) if code is None else "\n".join(_instructions(code))


def _text_of_lambda(function: FunctionType) -> str | None:
    """The text of a lambda without the rest of its statement; None where it cannot be told which it is."""
    code = function.__code__
    try:
        lines, _ = inspect.findsource(function)
        whole = "".join(lines)
        tree = ast.parse(whole)
    except (OSError, TypeError, SyntaxError):
        return None
    places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            body = node.body
            begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
            if places and all(begin <= (a, c) and (b, d) <= end for a, b, c, d in places):
                found.append(node)
    return ast.get_source_segment(whole, found[0]) if len(found) == 1 else None


def _instructions(code: CodeType) -> Iterator[str]:
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    yield f"{code.co_name}{code.co_varnames}: {code.co_code.hex()} {code.co_names} {constants!r}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _instructions(constant)


def _normalised(text: str) -> str:
    """A source without comments, docstrings and layout; itself where it does not parse, as part of a line."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
