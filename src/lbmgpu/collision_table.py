"""All collisions by the names of their classes, as cases, checkpoints, plans and benchmarks look them up."""

from __future__ import annotations

from .collisions import BGK, MRT, TRT, Collision, Regularized
from .kinetic import ThermalBGK

COLLISIONS: dict[str, type[Collision]] = {c.__name__: c for c in (BGK, TRT, MRT, Regularized, ThermalBGK)}
