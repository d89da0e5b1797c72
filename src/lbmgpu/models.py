"""What each model supports, by the engine's table, and errors for setups that it does not support.

A model is the method by which cells are updated. The stencil determines it, together with `HybridThermal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _core, checks, conditions
from .domain import Domain


@dataclass(frozen=True)
class Model:
    """The facts of one model; see ``_core.models``, which tells of each."""

    name: str
    stencils: list[str]
    smallest_size: Mapping[str, int]
    numbers: list[tuple[str, str]]
    streamings: list[str]
    faces: list[str]
    thermal_faces: list[str]
    bodies: bool
    nonequilibrium: bool
    fields: list[str]
    drives: list[str]
    temperature: str

    @property
    def has_temperature(self) -> bool:
        """Whether there is a temperature: in addition to the populations, or as a moment of them."""
        return "temperature" in self.fields

    @property
    def carries_temperature(self) -> bool:
        """Whether the temperature is a moment of the populations."""
        return self.temperature == "moment"

    def storages(self, precision: str | None = None) -> list[str]:
        """What populations may be stored as, narrow ones first; with any precision if None."""
        return sorted({stored for real, stored in self.numbers if precision in (None, real)})

    def nearest(self, precision: str, storage: str, streaming: str) -> tuple[str, str]:
        """Storage and streaming, those that do not go with the model replaced by what does."""
        return (
            storage if storage in self.storages(precision) else precision,
            streaming if streaming in self.streamings else self.streamings[0],
        )


MODELS = {name: Model(name, **facts) for name, facts in _core.models().items()}
STREAMINGS = tuple(dict.fromkeys(name for model in MODELS.values() for name in model.streamings))
"""The names of all streamings, those that need less memory first."""
_PAIRS = [pair for model in MODELS.values() for pair in model.numbers]
PRECISIONS = tuple(sorted({precision for precision, _ in _PAIRS}))
STORAGES = tuple(sorted({storage for _, storage in _PAIRS}))


def of(stencil: str, *, thermal: bool = False) -> Model:
    """The model of a stencil, the hybrid thermal one if `thermal`; ValueError if there is none."""
    right = [model for model in MODELS.values() if (model.temperature == "field") == thermal]
    for model in right:
        if stencil in model.stencils:
            return model
    names = checks.alternatives([repr(name) for model in right for name in model.stencils])
    raise ValueError(f"stencil: {stencil!r} given{' with thermal' if thermal else ''}, must be {names}")


def that_carry_temperature() -> list[str]:
    """The stencils whose populations carry a temperature."""
    return [name for model in MODELS.values() if model.carries_temperature for name in model.stencils]


def smallest_size(stencil: str) -> int:
    """Fewest cells along an axis."""
    return of(stencil).smallest_size[stencil]


def default_streaming(stencil: str) -> str:
    """What ``streaming=None`` means with `stencil`."""
    return of(stencil).streamings[0]


def check_numbers(stencil: str, precision: str, storage: str, streaming: str) -> None:
    """Raise ValueError where storage or streaming do not go with `stencil`."""
    model = of(stencil)
    if storage not in model.storages(precision):
        right = [repr(name) for name in model.storages(precision)]
        which = f"the precision, {precision!r}" if right == [repr(precision)] else checks.alternatives(right)
        raise ValueError(f"storage: {storage!r} given with {stencil}, must be {which}")
    if streaming not in model.streamings:
        which = checks.alternatives([repr(name) for name in model.streamings])
        raise ValueError(f"streaming: {streaming!r} given with {stencil}, must be {which}, or left out")


def check_domain(domain: Domain, force: Any, *, thermal: bool = False) -> None:
    """Raise ValueError where sizes, faces, bodies, sponges or a `force` do not go with the domain's stencil."""
    model, stencil = of(domain.stencil, thermal=thermal), domain.stencil
    least = smallest_size(stencil)
    if min(domain.shape) < least:
        right = f"must have {least} cells along each axis at least"
        raise ValueError(f"shape: {domain.shape} given with {stencil}, {right}")
    check_force(stencil, force)
    if not model.bodies:
        for name in domain.bodies:
            raise ValueError(f"bodies: {name!r} given with {stencil}, must be none: walls are faces of the domain")
    if thermal:
        for name, body in domain.bodies.items():
            if body.motion is not None:
                right = "must be none: the temperature needs bodies at rest"
                raise ValueError(f"motion of body {name!r}: given with HybridThermal, {right}")
    if model.carries_temperature and domain.sponges:
        raise ValueError(f"sponges: given with {stencil}, must be none")
    for face, condition in domain.faces.items():
        if condition.engine_name not in model.faces:
            right = checks.alternatives([f"{conditions.BY_KIND[kind].__name__}()" for kind in model.faces])
            raise ValueError(f"faces[{face!r}]: {checks.shown(condition)} given with {stencil}, must be {right}")


def check_force(stencil: str, force: Any) -> None:
    """Raise ValueError for a force where the stencil's model takes none."""
    drives = of(stencil).drives
    if force is not None and "force" not in drives:
        others = (
            "; ThermalBGK(..., gravity=(gx, gy)) is an acceleration of all of the fluid" if "gravity" in drives else ""
        )
        raise ValueError(f"force: {checks.shown(force)} given with {stencil}, must be None{others}")
