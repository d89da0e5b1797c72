"""Refuses to set attributes that a class does not have, which Python would take without a word."""

from __future__ import annotations

from typing import Any

from . import checks


class Guarded:
    """A class of which only what it offers for assignment can be assigned: properties with a setter.

    Names that begin with an underscore belong to the class itself and stay free.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self)
        found = getattr(kind, name, None)
        if name.startswith("_") or getattr(found, "fset", None) is not None:
            object.__setattr__(self, name, value)
            return
        if hasattr(kind, name):
            raise AttributeError(f"{kind.__name__}.{name}: cannot be assigned")
        public = [known for known in dir(kind) if not known.startswith("_")]
        raise AttributeError(f"{kind.__name__}: no attribute {name!r} to assign{checks.did_you_mean(name, public)}")
