"""Tests that the stubs of the extension module name exactly what the compiled module has."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import lbmgpu
from lbmgpu import _core

FILES = tuple(f"_core{part}.pyi" for part in ("", "_arrays", "_cuda", "_custom", "_geometry", "_lists", "_samplers"))
"""The others have what the first imports of them."""

STUBS = [node for name in FILES for node in ast.parse((Path(lbmgpu.__file__).parent / name).read_text()).body]
FUNCTIONS = {node.name: node for node in STUBS if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUBS if isinstance(node, ast.ClassDef)}


def public(owner: type | ModuleType) -> set[str]:
    """The names that an object offers itself."""
    return {name for name in vars(owner) if not name.startswith("_")}


def members(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    """The functions of a class by name, the getter of a property that has a setter."""
    found: dict[str, ast.FunctionDef] = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            found.setdefault(item.name, item)
    return found


def decorators(node: ast.ClassDef, name: str) -> set[str]:
    """The decorators of all definitions of a name, "property", "setter", "staticmethod"."""
    return {
        decorator.id if isinstance(decorator, ast.Name) else getattr(decorator, "attr", "")
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == name
        for decorator in item.decorator_list
    }


def parameters(node: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters in order."""
    return [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def compiled_parameters(function: object) -> list[str]:
    """The same of a compiled function, from the signature on the first line of its docstring."""
    signature = (inspect.getdoc(function) or "").splitlines()[0]
    arguments = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", signature.partition("(")[2]))
    return re.findall(r"(?:^|, )(\w+):", arguments.rpartition(")")[0])


def test_module_has_what_the_stubs_say() -> None:
    assert public(_core) == set(FUNCTIONS) | set(CLASSES)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_class_has_what_the_stubs_say(name: str) -> None:
    compiled = getattr(_core, name)
    stubbed = {member for member in members(CLASSES[name]) if not member.startswith("_")}
    assert public(compiled) == stubbed
    for member in stubbed:
        written = decorators(CLASSES[name], member)
        attribute = inspect.getattr_static(compiled, member)
        assert isinstance(attribute, property) == ("property" in written), member
        if isinstance(attribute, property):
            assert (attribute.fset is not None) == ("setter" in written), member
        assert isinstance(attribute, staticmethod) == ("staticmethod" in written), member


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_function_has_the_parameters_of_the_stubs(name: str) -> None:
    assert compiled_parameters(getattr(_core, name)) == parameters(FUNCTIONS[name])


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (owner, name)
        for owner, node in sorted(CLASSES.items())
        for name in members(node)
        if "property" not in decorators(node, name)
    ],
)
def test_method_has_the_parameters_of_the_stubs(owner: str, name: str) -> None:
    assert compiled_parameters(getattr(getattr(_core, owner), name)) == parameters(members(CLASSES[owner])[name])


def test_constructor_has_the_defaults_of_the_stubs() -> None:
    arguments = members(CLASSES["Engine"])["__init__"].args
    signature = (inspect.getdoc(_core.Engine.__init__) or "").splitlines()[0]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        value = r"'[^']*'|[-\w.]+|{}|\[\]"
        compiled = re.search(rf"\b{argument.arg}: [^=]*?( = ({value}))?(?:, \w+:|, \*\*|\) ->)", signature)
        assert compiled, argument.arg
        assert (compiled[1] is None) == (default is None), argument.arg
        if isinstance(default, ast.Constant) and default.value is not ...:
            assert ast.literal_eval(compiled[2]) == default.value, argument.arg
