"""Decorators for methods of `Solver`: those that all ranks call together, and those that delegate to a part of it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..engine.simulation import Simulation
from ..parallel.collective import together

P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[Any, P], R]


class HasSimulation:
    """What these decorators ask of a solver."""

    _simulation: Simulation


def collective(method: Method[P, R]) -> Method[P, R]:
    """A method of `Solver` that all ranks call together; what differs among them is a ValueError on all of them."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def called(solver: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        simulation = solver._simulation
        if simulation.processes.meeting is None:
            return method(solver, *args, **kwargs)
        try:
            given = signature.bind(solver, *args, **kwargs)
        except TypeError:
            return method(solver, *args, **kwargs)  # which says what is wrong
        given.apply_defaults()
        arguments = dict(list(given.arguments.items())[1:])
        with together(simulation.processes, method.__name__, arguments, lambda: simulation.steps):
            return method(solver, *args, **kwargs)

    return called


def collective_if_gathered(method: Method[P, R]) -> Method[P, R]:
    """As `collective`, for a method with the argument `gather`: ranks call it together only with that."""
    gathered = collective(method)
    names = list(inspect.signature(method).parameters.values())[1:]
    is_first = bool(names) and names[0].name == "gather"

    @functools.wraps(method)
    def called(solver: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        gather = kwargs.get("gather", args[0] if args and is_first else False)
        return method(solver, *args, **kwargs) if gather is False else gathered(solver, *args, **kwargs)

    return called


def of_part(part: Callable[[Any], Any], method: Method[P, R]) -> Method[P, R]:
    """A method of `Solver` that is that of its `part`, with the same signature and text."""

    @functools.wraps(method)
    def forwarded(solver: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return method(part(solver), *args, **kwargs)

    forwarded.__qualname__ = f"Solver.{method.__name__}"
    return forwarded
