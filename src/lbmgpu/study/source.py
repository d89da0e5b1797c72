"""The source of a study's function, so that a result is known to be of the function as it is now."""

from __future__ import annotations

import ast
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function and of those of its own module that it calls, directly or through each other.

    Of a function without text, typed at a prompt say, its code in words that change when it does.
    """
    own = getattr(function, "study_source", None)
    return own if isinstance(own, str) else "\n\n".join(_text(part) for part in _with_called(function))


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


def _text(part: Any) -> str:
    try:
        return textwrap.dedent(inspect.getsource(part)).strip()
    except (OSError, TypeError):
        code = getattr(part, "__code__", None)
        return repr(part) if code is None else "\n".join(_instructions(code))


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
