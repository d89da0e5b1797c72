"""The configuration whose speed is measured: a box of fluid with its stencil, collision, number types and flow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ..engine.kept_state import numbers_of_cell, steps_per_update
from ..thermal import HybridThermal
from .cost_model import Problem

VISCOSITY = 0.02
HEAT = HybridThermal(VISCOSITY / 0.71, buoyancy=(0.0, 1e-5, 0.0))
"""The temperature of the flow ``"heated"``: that of air."""


@dataclass(frozen=True)
class Configuration:
    """A box of `size` cells a side with a `flow` in it, one of `benchmarks.single.FLOWS`: a row of a benchmark.

    With several `members` it is an ensemble of such boxes, which advance together. `turbulence` is a model of velocity
    gradients by its name in cases, or empty, and `every` the steps for which its eddy viscosity holds. `state` is what
    a cell keeps.
    """

    stencil: str = "D3Q19"
    collision: str = "BGK"
    precision: str = "float32"
    storage: str = "float32"
    streaming: str = "in-place"
    size: int = 192
    flow: str = "periodic"
    members: int = 1
    turbulence: str = ""
    every: int = 1
    state: str = "populations"

    @property
    def has_temperature(self) -> bool:
        """Whether the hybrid thermal model adds a temperature to the flow."""
        return self.flow == "heated"

    @property
    def has_one_lattice_of_moments(self) -> bool:
        """Whether cells keep moments in two lattices that overlap."""
        return self.state == "moments" and self.streaming == "in-place"

    def __str__(self) -> str:
        size = "^".join((str(self.size), self.stencil[1]))
        if self.flow != "periodic":
            size += f" {self.flow}"
        if self.members > 1:
            size += f" x {self.members}"
        return f"{self.kind} {size}"

    @property
    def kind(self) -> str:
        """Stencil, collision, models, numbers and streaming, in words."""
        numbers = self.precision if self.storage == self.precision else f"{self.precision}/{self.storage}"
        model = f" {self.turbulence}" if self.turbulence else ""
        if self.every > 1:
            model += f"/{self.every}"
        how = self.streaming if self.state == "populations" else self.state
        how += " in-place" if self.has_one_lattice_of_moments else ""
        return f"{self.stencil} {self.collision}{model} {numbers} {how}"


def problem_of(
    configuration: Configuration, shape: tuple[int, ...], periodic: tuple[bool, ...], turbulence_bytes: int = 0
) -> Problem:
    """What the cost model knows of a configuration in a domain of a `shape`, for each axis `periodic` or not."""
    stencil, state = _core.stencil(configuration.stencil), configuration.state
    return Problem(
        shape,
        tuple(tuple(int(c) for c in velocity) for velocity in stencil.c),
        np.dtype(configuration.storage).itemsize,
        periodic,
        configuration.has_temperature,
        turbulence_bytes,
        numbers_of_cell(state, stencil.name) if state == "moments" else 0,
        steps_per_update(state, stencil.name),
        configuration.has_one_lattice_of_moments,
    )
