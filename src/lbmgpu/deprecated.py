"""Old spellings of the public API: each works for one version, with a DeprecationWarning that names the new one."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from .errors import warn_of_old_name

P = ParamSpec("P")
R = TypeVar("R")


def renamed_word(name: str, value: Any, new_words: Mapping[str, str]) -> Any:
    """`value`, a word of the argument `name`, or the word that has replaced it."""
    if isinstance(value, str) and value in new_words:
        warn_of_old_name(f"{name}={value!r}", f"{name}={new_words[value]!r}")
        return new_words[value]
    return value


def renamed_arguments(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator of a function that takes arguments by their old names too."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in new_names.items():
                if old in kwargs:
                    warn_of_old_name(f"the argument {old}=", f"{new}=")
                    if new in kwargs and sys._getframe(1).f_globals.get("__name__") != "dataclasses":  # of replace()
                        raise TypeError(f"{old}: given beside {new}, which is its new name")
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return called

    return decorated


def renamed_attribute(old: str, new: str) -> property:
    """A property for the old name of an attribute."""

    def read(self: Any) -> Any:
        warn_of_old_name(f"{type(self).__name__}.{old}", new)
        return getattr(self, new)

    return property(read, doc=f"Old name of `{new}`.")


class CallableArray(np.ndarray[Any, Any]):
    """The array of a property that was a method: calling it, as was done then, gives the plain array and warns.

    What is computed from it or read out of it is a plain array, too.
    """

    _name: str = ""

    def __call__(self) -> NDArray[Any]:
        if not self._name:  # such as of a transposed one
            raise TypeError("'numpy.ndarray' object is not callable")
        warn_of_old_name(f"{self._name}()", f"the property {self._name}")
        return np.asarray(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(given) if isinstance(given, CallableArray) else given for given in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(np.asarray(out) if isinstance(out, CallableArray) else out for out in kwargs["out"])
        return getattr(ufunc, method)(*plain, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __reduce__(self) -> Any:
        """That of the plain array, for pickle."""
        return np.asarray(self).__reduce__()


def was_a_method(name: str, array: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The `array` of a property called `name` that may still be called."""
    result = array.view(CallableArray)
    result._name = name
    return result
