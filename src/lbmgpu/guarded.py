"""Refuses to set attributes that a class does not have, which Python would take without a word."""

from __future__ import annotations

from typing import Any

from . import checks


class Guarded:
    """A class of which only what it offers for assignment can be assigned: properties with a setter.

    Names that begin with an underscore belong to the class itself and stay free, and so does what a user's own class
    adds to one of these.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        kind = type(self)
        ours = next(base for base in kind.__mro__ if base.__module__.partition(".")[0] == __package__)
        is_added = kind is not ours and not hasattr(ours, name)
        if name.startswith("_") or is_added or getattr(getattr(kind, name, None), "fset", None) is not None:
            object.__setattr__(self, name, value)
            return
        if hasattr(kind, name):
            raise AttributeError(f"{kind.__name__}.{name}: cannot be assigned")
        public = [known for known in dir(kind) if not known.startswith("_")]
        raise AttributeError(f"{kind.__name__}: no attribute {name!r} to assign{checks.did_you_mean(name, public)}")


def refuse_if_used(used: bool, what: str) -> None:
    """Raise TypeError where a solver uses the domain."""
    if used:
        raise TypeError(
            f"{what}: changed in the domain of a solver, must stay as it is; change your own domain, or "
            "solver.domain.copy(), and make a new Solver with it"
        )
