"""What is read out of the C++ of a user's collision before a compiler sees it: its headers, and which struct it is.

CPUs and GPUs have different headers beside the engine's, and of all that a text might include nothing would be compared
or kept with it: so it includes the engine's headers alone.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache

from . import _core, checks

FOLDER = "lattice/collisions"
"""Where the text lies, as far as its ``#include`` are concerned."""

_LITERALS = r'R"(?P<mark>\w*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
_COMMENT = re.compile(rf"(?P<comment>//(?:[^\n\\]|\\.)*|/\*.*?\*/)|{_LITERALS}", re.DOTALL)
_DIRECTIVE = re.compile(r"[ \t]*(?:#|%:|\?\?=)[ \t]*(\w*)(.*)")
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"([^"]*)"[ \t]*(?://.*|/\*[^*]*\*/[ \t]*)?')
_TOKEN = re.compile(r"[A-Za-z_]\w*|::|[^\s\w]", re.ASCII)


@dataclass(frozen=True)
class Struct:
    """A struct of ``namespace lbm``, the line that it begins in, and whether it has a member ``name``."""

    name: str
    line: int
    has_name: bool = False


@lru_cache(maxsize=16)
def collision_of(text: str, file: str, name: str | None) -> Struct:
    """The struct that is the collision: `name`, or the only one of ``namespace lbm`` with a static member ``name``.

    Raises:
        ValueError: there is none, or the text includes what is not the engine's, or has brackets without partners.
    """
    lines = text.split("\n")
    without_comments = _COMMENT.sub(lambda m: _blank(m) if m["comment"] else m[0], text)
    _check_includes(lines, without_comments, file)
    structs = _structs(_COMMENT.sub(_blank, text), file)
    found = [each for each in structs if (each.has_name if name is None else each.name == name)]
    if len(found) == 1:
        return found[0]
    if name is not None:
        has = checks.alternatives([each.name for each in structs]).replace(" or ", " and ") if structs else "none"
        raise ValueError(
            f"name: {name!r} given, must be that of a struct of the header in namespace lbm, which has {has}"
        )
    names = checks.alternatives([each.name for each in found]).replace(" or ", " and ")
    raise ValueError(
        f"name: none given, but {names + ' have' if found else 'no struct of namespace lbm has'} a member such as "
        "'static constexpr const char* name = \"mine\";' in the header; give the name of the struct that is the "
        "collision"
    )


def _blank(match: re.Match[str]) -> str:
    """As many lines, with nothing in them."""
    return " " + "\n" * match[0].count("\n")


def _check_includes(lines: list[str], text: str, file: str) -> None:
    """Raise ValueError for a header that is not one of the engine's.

    Args:
        lines: of the text as it is.
        text: without comments.
        file: that the error names.
    """
    known = set(_core.lattice_headers())
    number = 0
    for line in re.sub(r"\\\n", "\0", text).split("\n"):
        number += 1
        directive = _DIRECTIVE.match(line.replace("\0", ""))
        if directive and directive[1] in ("include", "include_next", "import", "embed"):
            plain = _INCLUDE.fullmatch(lines[number - 1].rstrip("\r"))
            if plain is None or posixpath.normpath(posixpath.join(FOLDER, plain[1])) not in known:
                given = f"#{directive[1]} {directive[2].strip()}"
                raise ValueError(
                    f"header: {file}:{number}: {given!r} given, must be '#include \"../collide.h\"' or another of the "
                    "engine's headers in lattice/: standard headers are not on GPUs, and what a file of your own held "
                    "would neither be compared nor compiled again"
                )
        number += line.count("\0")


def _first_branches(text: str) -> str:
    """The text without directives, and of conditional ones the first branch alone, the second of ``#if 0``."""
    kept: list[str] = []
    left: list[int] = []  # of each open conditional the branches until the one that is read, which is 0
    for line in re.sub(r"\\\n", "\0", text).split("\n"):
        directive = _DIRECTIVE.match(line)
        word = directive[1] if directive else ""
        if word.startswith("if"):
            left.append(1 if directive and directive[2].strip() == "0" else 0)
        elif word.startswith("el") and left:
            left[-1] -= 1
        elif word == "endif" and left:
            left.pop()
        kept.append(("" if directive or any(left) else line) + "\n" * line.count("\0"))
    return "\n".join(kept)


def _structs(text: str, file: str) -> list[Struct]:
    """All that are defined in ``namespace lbm`` itself, out of a text without comments and literals."""
    tokens: list[tuple[str, int]] = []
    for number, line in enumerate(_first_branches(text).split("\n"), 1):
        tokens += [(word, number) for word in _TOKEN.findall(line)]
    words = [word for word, _ in tokens]
    found: dict[str, Struct] = {}
    scopes: list[tuple[str, str, int]] = []  # kind, name, line of what is open
    opening = ("", "")  # what the next bracket opens
    start = at = 0  # of the statement
    while at < len(words):
        word, number = tokens[at]
        if word == "template" and words[at + 1 : at + 2] == ["<"]:
            at = _end_of_angles(words, at + 1)
            continue
        if word == "namespace":
            end = next((k for k in range(at, len(words)) if words[k] in "{;="), len(words))
            opening = ("namespace", "".join(words[at + 1 : end]))
            at = end
            continue
        if word in ("struct", "class", "union") and words[at + 2 : at + 3] in (["{"], [":"], ["final"]):
            name = words[at + 1]
            opening = ("struct", name)
            if [(kind, scope) for kind, scope, _ in scopes] == [("namespace", "lbm")]:
                found[name] = Struct(name, number)
        elif word == "{":
            scopes.append((*opening, number))
        elif word == "}":
            if not scopes:
                raise ValueError(f"header: {file}:{number}: a '}}' given without its '{{'")
            scopes.pop()
        elif word == "name" and "static" in words[start:at] and words[at + 1 : at + 2] in (["="], ["{"], ["["]):
            inner = [(kind, scope) for kind, scope, _ in scopes]
            if len(inner) == 2 and inner[0] == ("namespace", "lbm") and inner[1][1] in found:
                found[inner[1][1]] = Struct(inner[1][1], found[inner[1][1]].line, has_name=True)
        if word in "{};":
            opening, start = ("", ""), at + 1
        at += 1
    if scopes:
        raise ValueError(f"header: {file}:{scopes[-1][2]}: a '{{' given without its '}}'")
    return list(found.values())


def _end_of_angles(words: list[str], at: int) -> int:
    """Behind the brackets that begin at `at`."""
    depth = 0
    for k in range(at, len(words)):
        depth += {"<": 1, ">": -1}.get(words[k], 0)
        if depth == 0:
            return k + 1
    return len(words)
