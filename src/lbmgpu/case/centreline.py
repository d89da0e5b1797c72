"""Velocity profiles on the centrelines of a cavity, compared with published ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import checks

if TYPE_CHECKING:
    from ..solver import Solver

Floats = NDArray[np.float64]


def reference_names() -> list[str]:
    """Names of the published data that come with the package."""
    folder = resources.files("lbmgpu") / "data"
    return sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))


def reference(name: str) -> dict[str, Any]:
    """Published data by name: title, source, dimensions, and for each line what was published on it.

    Raises:
        ValueError: an unknown name.
    """
    name = checks.choice("reference", name, reference_names())
    text = (resources.files("lbmgpu") / "data" / f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def centreline(field: NDArray[Any], along: str) -> tuple[Floats, Floats]:
    """A scalar field on the line through the middle of the domain.

    Args:
        field: ``(nx, ny[, nz])``.
        along: the line's axis, ``"x"``, ``"y"`` or ``"z"``.

    Returns:
        Positions of the cell centres as parts of the domain's length, and the values there. Where the middle lies
        between two cells they are the mean of both.
    """
    axis = "xyz".index(checks.choice("along", along, "xyz"[: field.ndim]))
    values = np.moveaxis(np.asarray(field, dtype=np.float64), axis, 0)
    while values.ndim > 1:
        n = values.shape[1]
        values = values[:, (n - 1) // 2 : n // 2 + 1].mean(axis=1)
    return (np.arange(len(values)) + 0.5) / len(values), values


def extreme(positions: Floats, values: Floats, kind: str) -> tuple[float, float]:
    """Position and value of the least (`kind` ``"min"``) or greatest (``"max"``) value, between the points.

    From the parabola through the extreme point and its two neighbours; at the ends the point itself.
    """
    sign = 1.0 if checks.choice("kind", kind, ("min", "max")) == "max" else -1.0
    i = int(np.argmax(sign * values))
    if i in (0, len(values) - 1):
        return float(positions[i]), float(values[i])
    left, middle, right = values[i - 1 : i + 2]
    curvature = left - 2 * middle + right
    offset = 0.5 * (left - right) / curvature
    spacing = positions[i + 1] - positions[i]
    return float(positions[i] + offset * spacing), float(middle - 0.25 * (left - right) * offset)


@dataclass(frozen=True)
class Comparison:
    """Centrelines of a solver and of a reference; `str` of it is a table.

    Attributes:
        title, source: of the reference.
        extremes: for each a name, position and value here, position and value published.
        profiles: for each a name, the root mean square and the largest absolute difference.
    """

    title: str
    source: str
    extremes: list[tuple[str, float, float, float, float]]
    profiles: list[tuple[str, float, float]]

    def __str__(self) -> str:
        lines = [self.title, f"source: {self.source}"]
        if self.extremes:
            lines.append(f"{'':<22}{'value':>10}{'published':>11}{'at':>10}{'published':>11}")
        for name, position, value, published_position, published in self.extremes:
            lines.append(f"{name:<22}{value:>10.5f}{published:>11.5f}{position:>10.4f}{published_position:>11.4f}")
        for name, rms, largest in self.profiles:
            lines.append(f"{name}: rms difference {100 * rms:.2f} %, largest {100 * largest:.2f} % of the speed")
        return "\n".join(lines)


def compare(solver: Solver, name: str, speed: float) -> Comparison | None:
    """The centrelines of `solver`, divided by `speed`, compared with the reference `name`; None on ranks other than 0.

    Raises:
        ValueError: an unknown reference, or one for another number of dimensions or for more cells.
    """
    speed = checks.number("velocity", speed, above=0)
    data = reference(name)
    check_shape(name, solver.domain.shape)
    velocity = solver.velocity(gather=True)
    if velocity is None:
        return None
    extremes, profiles = [], []
    for line in data["lines"]:
        component, along = line["component"], line["along"]
        positions, values = centreline(velocity["xyz".index(component)] / speed, along)
        for entry in line.get("extremes", []):
            here = extreme(positions, values, entry["kind"])
            label = f"u_{component}/U {entry['kind']} along {along}"
            extremes.append((label, *here, entry["position"], entry["value"]))
        published = np.array(line.get("positions", []))
        inside = (published > positions[0]) & (published < positions[-1])
        for author, column in line.get("values", {}).items():
            values_there = np.array(column, dtype=np.float64)  # NaN where a printed value is known to be wrong
            difference = (np.interp(published, positions, values) - values_there)[inside & ~np.isnan(values_there)]
            label = f"u_{component}/U along {along}, {author}"
            profiles.append((label, float(np.sqrt((difference**2).mean())), float(np.abs(difference).max())))
    return Comparison(data["title"], data["source"], extremes, profiles)


def check_shape(name: str, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless the reference `name` can be compared with a domain of `shape`."""
    data = reference(name)
    if data["dimensions"] != len(shape):
        raise ValueError(
            f"reference: {name!r} given, which is for {data['dimensions']} dimensions, but the domain has {len(shape)}"
        )
    for line in data["lines"]:
        along = line["along"]
        cells = shape["xyz".index(along)]
        outermost = 0.5 / cells
        published = line.get("positions", [])
        if cells < 2 or (published and not any(outermost < at < 1 - outermost for at in published)):
            raise ValueError(
                f"reference: {name!r} given, which has a line along {along}, but the domain of {shape} cells has too "
                "few along it to compare anything"
            )
