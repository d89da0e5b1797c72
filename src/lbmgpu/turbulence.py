"""Turbulence models: eddy viscosities for large-eddy simulations, as frozen values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from . import _core, checks
from .collisions import Collision, FlowCollision
from .custom_collision import CustomCollision

MOST_STEPS = _core.most_steps_between()
"""The most steps for which an eddy viscosity may hold."""


@dataclass(frozen=True)
class TurbulenceModel:
    """What the turbulence models share: the width of the filter is a cell.

    Args:
        constant: of the model, above 0 and at most 1.

    Raises:
        TypeError, ValueError: not a finite number in range.
    """

    kind: ClassVar[str] = ""
    """Name of the engine's model."""
    case_parameters: ClassVar[dict[str, Any]] = {
        "constant": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    }
    """A JSON schema for each key that a case may give."""
    constant: float

    def __post_init__(self) -> None:
        constant = checks.number("constant", self.constant, above=0, at_most=1)
        object.__setattr__(self, "constant", constant)

    def record(self) -> dict[str, Any]:
        """The model and all its parameters, as JSON and as the engine takes them."""
        return {"model": self.kind, "constant": self.constant}


@dataclass(frozen=True)
class Smagorinsky(TurbulenceModel):
    """The Smagorinsky model: ``nu_t = constant**2 |S|`` with the strain rate S of the local non-equilibrium stress.

    Hou et al., Fields Inst. Commun. 6 (1996) 151. It is what the argument ``smagorinsky`` of a collision says too, and
    is computed in each step.

    Args:
        constant: Cs; 0.1 for channels, up to 0.2 far from walls.
    """

    kind: ClassVar[str] = "smagorinsky"
    constant: float = 0.1


@dataclass(frozen=True)
class GradientModel(TurbulenceModel):
    """What the models of velocity gradients share.

    Gradients are central differences of the velocities of the step before.

    Args:
        constant: of the model, above 0 and at most 1.
        every: steps for which an eddy viscosity holds, 1 to 1000; the work of the model is done once in these.

    Raises:
        TypeError, ValueError: not finite numbers in range.
    """

    case_parameters: ClassVar[dict[str, Any]] = {
        **TurbulenceModel.case_parameters,
        "every": {"type": "integer", "minimum": 1, "maximum": MOST_STEPS},
    }
    every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "every", checks.integer("every", self.every, at_least=1, at_most=MOST_STEPS))

    def record(self) -> dict[str, Any]:
        """The model and all its parameters, as JSON and as the engine takes them."""
        return super().record() | {"every": self.every}


@dataclass(frozen=True)
class WALE(GradientModel):
    """The wall-adapting local eddy viscosity (Nicoud & Ducros, Flow Turbul. Combust. 62 (1999) 183, eq. 13).

    It vanishes in pure shear and with the cube of the distance at walls, without a damping function.

    Args:
        constant: Cw.
        every: steps for which an eddy viscosity holds, 1 to 1000.
    """

    kind: ClassVar[str] = "wale"
    constant: float = 0.5


@dataclass(frozen=True)
class Vreman(GradientModel):
    """Vreman's eddy viscosity (Phys. Fluids 16 (2004) 3670, eqs. 5 to 8), which vanishes in pure shear.

    Args:
        constant: c, about 2.5 times the square of a Smagorinsky constant.
        every: steps for which an eddy viscosity holds, 1 to 1000.
    """

    kind: ClassVar[str] = "vreman"
    constant: float = 0.07


def bytes_per_update(
    model: TurbulenceModel | None,
    dimensions: int,
    precision: str,
    storage: str,
    takes_strain: bool = False,
    *,
    on_gpu: bool = False,
) -> int:
    """Bytes that a cell reads and writes in a step for velocity gradients, on average, beside its populations."""
    has_viscosity = isinstance(model, GradientModel)
    if not has_viscosity and not takes_strain:
        return 0
    every = model.every if isinstance(model, GradientModel) else 1
    return _core.gradient_bytes(dimensions, has_viscosity, takes_strain, precision, storage, every, on_gpu)


MODELS: dict[str, type[TurbulenceModel]] = {model.kind: model for model in (Smagorinsky, WALE, Vreman)}
"""The turbulence models by their names in cases, checkpoints and the engine."""

GRADIENT_MODELS: dict[str, Callable[..., GradientModel]] = {
    kind: model for kind, model in MODELS.items() if issubclass(model, GradientModel)
}
"""Those of velocity gradients, each with a constant of its own as the default."""

if set(MODELS) != set(_core.turbulence_models()):
    raise ImportError(f"lbmgpu: turbulence models {sorted(MODELS)}, the engine has {_core.turbulence_models()}")


def of_record(record: dict[str, Any]) -> TurbulenceModel:
    """The model of a `record`, or of a case."""
    given = dict(record)
    return MODELS[checks.choice("turbulence", given.pop("model"), tuple(MODELS))](**given)


def of_collision(collision: Collision) -> TurbulenceModel | None:
    """The Smagorinsky model that a collision was given as ``smagorinsky``."""
    constant = collision.smagorinsky if isinstance(collision, FlowCollision) else None
    return Smagorinsky(constant) if constant else None


def combined(collision: Collision, turbulence: Any) -> tuple[Collision, GradientModel | None]:
    """The collision, with the constant of a Smagorinsky model in it, and a model of velocity gradients.

    Raises:
        TypeError, ValueError: no turbulence model, or one that does not go with the collision.
    """
    if turbulence is None:
        return collision, None
    right = checks.alternatives([f"{model.__name__}(...)" for model in MODELS.values()])
    if not isinstance(turbulence, TurbulenceModel) or type(turbulence) not in MODELS.values():
        hint = " (a value such as WALE(0.5), not the class)" if isinstance(turbulence, type) else ""
        raise TypeError(f"turbulence: {checks.shown(turbulence)} given, must be {right} or None{hint}")
    name = type(collision).__name__
    if isinstance(collision, CustomCollision) or not isinstance(collision, FlowCollision):
        why = (
            "its own parameters say what eddy viscosity it has"
            if isinstance(collision, CustomCollision)
            else "the rate of its stress is the same everywhere"
        )
        raise ValueError(f"turbulence: {turbulence!r} given with {name}, must be None: {why}")
    if collision.smagorinsky is not None:
        raise ValueError(
            f"turbulence: {turbulence!r} given beside smagorinsky={collision.smagorinsky!r} of {name}, must be one of "
            "the two"
        )
    if isinstance(turbulence, GradientModel):
        if collision.takes_strain and turbulence.every > 1:
            raise ValueError(
                f"turbulence: every={turbulence.every} given with the hybrid {name}, must be 1: this collision takes "
                "velocity gradients in each step"
            )
        return collision, turbulence
    return replace(collision, smagorinsky=turbulence.constant), None
