"""Turns a vector, an array or a callable of coordinates into the array that the engine takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import checks
from .conditions import Condition, Value
from .time_functions.product import Varying, signature, takes_time

Floats = NDArray[np.float64]


_GPU = (2, 13)
"""DLPack's numbers of CUDA's memory, and of CUDA's managed memory."""


def is_on_gpu(value: Any) -> bool:
    """Whether `value` is an array of another library in a GPU's memory."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    try:
        if hasattr(value, "__dlpack_device__"):
            return int(value.__dlpack_device__()[0]) in _GPU
        return hasattr(value, "__cuda_array_interface__")
    except Exception:  # of the other library
        return False


def axis_of(face: str) -> int:
    """The axis that `face` is normal to."""
    return "xyz".index(face[1])


def face_shape(shape: tuple[int, ...], face: str) -> tuple[int, ...]:
    """The numbers of cells along the tangential axes of `face`."""
    axis = axis_of(face)
    return shape[:axis] + shape[axis + 1 :]


def cell_centres(shape: tuple[int, ...]) -> tuple[Floats, ...]:
    """Coordinates ``x, y[, z]`` of all cell centres: read-only arrays of `shape` that take no memory."""
    return centres([np.arange(n) + 0.5 for n in shape])


def centres(along: Sequence[NDArray[Any]]) -> tuple[Floats, ...]:
    """Coordinates ``x, y[, z]`` of the places with these coordinates along each axis, as `cell_centres` gives them."""
    shape = tuple(len(axis) for axis in along)
    return tuple(np.broadcast_to(axis, shape) for axis in np.meshgrid(*along, indexing="ij", sparse=True))


def face_centres(shape: tuple[int, ...], face: str) -> tuple[Floats, ...]:
    """Coordinates ``x, y[, z]`` of the centres of the cell faces that make up `face`."""
    axis = axis_of(face)
    tangential = list(cell_centres(face_shape(shape, face)))
    position = 0.0 if face[0] == "-" else float(shape[axis])
    tangential.insert(axis, np.full(face_shape(shape, face), position))
    return tuple(tangential)


Scalar = TypeVar("Scalar", bound=np.generic)


def to_engine(array: NDArray[Scalar], *, components: bool) -> NDArray[Scalar]:
    """`array`, indexed [(component,) x, y, z], as a contiguous array with the axes of space reversed."""
    start = 1 if components else 0
    order = [*range(start), *reversed(range(start, array.ndim))]
    return np.asarray(array.transpose(order), order="C")


def call(name: str, function: Callable[..., Any], coordinates: tuple[Floats, ...], time: float = 0.0) -> Any:
    """What a function of coordinates, and of ``t`` if it takes that, returns; TypeError for one of others."""
    keywords = {"t": time} if takes_time(function) else {}
    try:
        if (found := signature(function)) is not None:
            found.bind(*coordinates, **keywords)
    except TypeError:
        wanted = ", ".join("xyz"[: len(coordinates)])
        raise TypeError(
            f"{name}: {checks.shown(function)} given, must take ({wanted}), and t as well if it changes in time"
        ) from None
    return function(*coordinates, **keywords)


def evaluate(
    name: str,
    value: Value,
    shape: tuple[int, ...],
    coordinates: tuple[Floats, ...],
    components: int | None,
    time: float = 0.0,
) -> Floats:
    """The numbers or components that a condition or a field has in a region, as a finite array.

    Args:
        name: the name of the argument, for errors.
        value: an array, or a callable of the coordinates, and of ``t`` if it takes that; or one of them times a
            function of time.
        shape: the shape of the region, a face or the domain.
        coordinates: those of the places at which a callable is evaluated: of the region, or of the cells of a body.
        components: their number; None for a number at each place.
        time: the time in steps for callables that take ``t``.

    Returns:
        An array of shape ``(components,)`` or ``(components,) + shape``; without components ``()`` or `shape`. For a
        callable it has the shape of each of `coordinates` in place of `shape`.

    Raises:
        TypeError, ValueError: the array, or the callable or its result, does not suit.
    """
    lead = () if components is None else (components,)
    if isinstance(value, Varying):
        return np.asarray(evaluate(name, value.spatial, shape, coordinates, components) * value.function(time))
    if not callable(value):
        if value.shape not in (lead, lead + shape):
            right = f"{lead + shape}" if components is None else f"{lead} or {lead + shape}"
            what = "a number or shape " if components is None else "shape "
            raise ValueError(f"{name}: shape {value.shape} given, must be {what}{right}")
        return value
    result = call(name, value, coordinates, time)
    region = coordinates[0].shape
    if components is None:
        return _component(name, result, region)
    if not isinstance(result, tuple | list | np.ndarray) or len(result) != components:
        raise ValueError(f"{name}: the callable returned {checks.shown(result)}, must return {components} components")
    return np.stack([_component(f"{name}, component {i}", part, region) for i, part in enumerate(result)])


def _component(name: str, part: Any, region: tuple[int, ...]) -> Floats:
    array = checks.real_array(name, part)
    try:
        return np.broadcast_to(array, region)
    except ValueError:
        raise ValueError(f"{name}: the callable returned shape {array.shape}, must be a number or {region}") from None


def check_fixed(
    name: str,
    condition: Condition,
    shape: tuple[int, ...],
    cs2: float,
    mask: NDArray[np.bool_] | None = None,
    is_body: bool = False,
) -> None:
    """Raise ValueError where the vector or array of `condition` does not suit a face or body of a `shape`.

    Callables are checked when they are called, and arrays for a body without a `mask` when its cells are known.
    """
    velocity = getattr(condition, "velocity", None)
    dimensions = len(shape) + (0 if is_body else 1)
    if isinstance(velocity, Varying) and not callable(velocity.spatial):
        evaluate(f"velocity of {name}", velocity.spatial, shape, (), dimensions)
    if isinstance(velocity, np.ndarray):
        result = evaluate(f"velocity of {name}", velocity, shape, (), dimensions)
        if mask is not None and result.ndim > 1:
            result = result[:, mask]
        if result.size > 0 and (mask is not None or not is_body or result.ndim == 1):
            checks.speed(f"velocity of {name}", result, cs2)
    number = getattr(condition, condition.number) if condition.number else None
    if isinstance(number, Varying) and not callable(number.spatial):
        evaluate(f"{condition.number} of {name}", number.spatial, shape, (), None)
    if isinstance(number, np.ndarray):
        evaluate(f"{condition.number} of {name}", number, shape, (), None)
    temperature = getattr(condition, "temperature", None)
    if isinstance(temperature, Varying) and not callable(temperature.spatial):
        evaluate(f"temperature of {name}", temperature.spatial, shape, (), None)
    if isinstance(temperature, np.ndarray):
        result = evaluate(f"temperature of {name}", temperature, shape, (), None)
        result = result if mask is None or result.ndim == 0 else result[mask]
        if result.size > 0 and (mask is not None or not is_body or result.ndim == 0):
            checks.temperatures(f"temperature of {name}", result)


def on_face(
    name: str, value: Value, domain_shape: tuple[int, ...], face: str, components: int | None, time: float
) -> Floats:
    """A value on a face in the user's order, uniform or with the face's shape; without components a number."""
    return evaluate(name, value, face_shape(domain_shape, face), face_centres(domain_shape, face), components, time)


def on_body(
    name: str,
    value: Value,
    mask: NDArray[np.bool_],
    cells: tuple[Floats, ...],
    components: int | None,
    time: float,
) -> Floats:
    """A value of a body's cells in the user's order, uniform or with the shape of `mask` and 0 outside.

    Args:
        name: of the argument.
        value: that is given; an array has the shape of `mask`.
        mask: of the body in some region.
        cells: the coordinates of the region's cell centres.
        components: their number; None for a number in each cell.
        time: in steps.
    """
    result = _on_cells(name, value, mask, cells, components, time)
    lead = () if components is None else (components,)
    if result.ndim == len(lead):
        return result
    full = np.zeros((*lead, *mask.shape))
    full[..., mask] = result
    return full


def _on_cells(
    name: str, value: Value, mask: NDArray[np.bool_], cells: tuple[Floats, ...], components: int | None, time: float
) -> Floats:
    """The value of a body if it is uniform, else that of each of its cells in the region."""
    if not callable(value):
        result = evaluate(name, value, mask.shape, (), components, time)
        return result[..., mask] if result.ndim > (0 if components is None else 1) else result
    if not mask.any():  # of a part of the domain; functions need not be made for no place
        return np.empty((0,) if components is None else (components, 0))
    return evaluate(name, value, mask.shape, tuple(np.ascontiguousarray(c[mask]) for c in cells), components, time)


def as_index(axes: Sequence[NDArray[np.int64]]) -> tuple[Any, ...]:
    """The index of the cells with these numbers along each axis: slices where they are consecutive."""
    if all(len(axis) > 0 and axis[-1] - axis[0] == len(axis) - 1 and (np.diff(axis) == 1).all() for axis in axes):
        return tuple(slice(int(axis[0]), int(axis[-1]) + 1) for axis in axes)
    return np.ix_(*axes)


def trimmed(mask: NDArray[np.bool_]) -> tuple[tuple[int, ...], NDArray[np.bool_]]:
    """The corner of the smallest box with all True cells, and a copy of that box."""
    low, high = [], []
    for axis in range(mask.ndim):
        found = np.flatnonzero(mask.any(axis=tuple(other for other in range(mask.ndim) if other != axis)))
        low.append(int(found[0]))
        high.append(int(found[-1]) + 1)
    return tuple(low), mask[tuple(slice(a, b) for a, b in zip(low, high, strict=True))].copy()
