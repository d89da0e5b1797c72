"""Collision models and their parameters, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from . import _core, checks

MAX_VISCOSITY = 1e6
"""Far beyond use; it keeps the relaxation rates clear of underflow in float32."""


@dataclass(frozen=True)
class Collision:
    """What the collision models share.

    Args:
        viscosity: kinematic viscosity, cells squared a step, above 0. The relaxation time is
            ``tau = viscosity / cs2 + 1/2``.

    Raises:
        TypeError, ValueError: not finite numbers in range.
    """

    kind: ClassVar[str] = ""
    """Name of the engine's collision."""
    case_parameters: ClassVar[dict[str, Any]] = {}
    """A JSON schema for each key that a case may give beside the viscosity, and those of the classes it is made of."""
    viscosity: float

    def __post_init__(self) -> None:
        viscosity = checks.number("viscosity", self.viscosity, above=0, at_most=MAX_VISCOSITY)
        object.__setattr__(self, "viscosity", viscosity)

    @property
    def takes_strain(self) -> bool:
        """Whether the collision takes the strain rate of velocities that are kept from step to step."""
        return False

    def check(self, stencil: _core.Stencil) -> None:
        """Raise ValueError where the parameters do not suit `stencil`."""

    def without_defaults(self, stencil: _core.Stencil) -> Collision:
        """The same collision without the parameters that `stencil` has anyway, so that equal ones compare equal."""
        return self

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        return {"viscosity": self.viscosity}

    def record(self, stencil: _core.Stencil) -> dict[str, Any]:
        """What a checkpoint holds of it: its name and all its parameters, as JSON."""
        return {"model": self.kind, **self.parameters(stencil)}


@dataclass(frozen=True)
class FlowCollision(Collision):
    """What the collision models of a fluid at one temperature share.

    Args:
        viscosity: see `Collision`.
        smagorinsky: constant Cs of the Smagorinsky eddy viscosity with the cell as filter width, from the local
            non-equilibrium stress (Hou et al., Fields Inst. Commun. 6 (1996) 151); None for none.

    Raises:
        TypeError, ValueError: not finite numbers in range.
    """

    case_parameters: ClassVar[dict[str, Any]] = {
        "smagorinsky": {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    }
    smagorinsky: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smagorinsky is not None:
            constant = checks.number("smagorinsky", self.smagorinsky, at_least=0, at_most=1)
            object.__setattr__(self, "smagorinsky", constant or None)  # 0 is none too

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        return super().parameters(stencil) | {"smagorinsky": self.smagorinsky or 0.0}


@dataclass(frozen=True)
class EitherEquilibrium(FlowCollision):
    """What the collision models share that relax towards a compressible or an incompressible equilibrium.

    Args:
        viscosity, smagorinsky: see `FlowCollision`.
        incompressible: whether the equilibrium is the incompressible one of He & Luo, J. Stat. Phys. 88 (1997) 927,
            ``w_i (rho + c.u / cs2 + (c.u)^2 / (2 cs2^2) - u^2 / (2 cs2))``, with the velocity ``u = sum f_i c_i``: the
            reference density is 1, and ``rho - 1`` stands for the pressure ``cs2 (rho - 1)`` alone. A steady flow is
            then free of the error of compressibility; one that changes in time has errors of the square of the Mach
            number as before, and sound in it.

    Raises:
        TypeError, ValueError: not finite numbers in range, or `incompressible` neither True nor False.
    """

    case_parameters: ClassVar[dict[str, Any]] = {"incompressible": {"type": "boolean"}}
    incompressible: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "incompressible", checks.flag("incompressible", self.incompressible))

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        return super().parameters(stencil) | ({"incompressible": 1.0} if self.incompressible else {})

    def record(self, stencil: _core.Stencil) -> dict[str, Any]:
        """What a checkpoint holds of it; compressible ones are as before there was a choice."""
        return super().record(stencil) | ({"incompressible": True} if self.incompressible else {})


@dataclass(frozen=True)
class BGK(EitherEquilibrium):
    """One relaxation time (Qian, d'Humières & Lallemand, Europhys. Lett. 17 (1992) 479, eq. 2)."""

    kind: ClassVar[str] = "bgk"


@dataclass(frozen=True)
class Regularized(EitherEquilibrium):
    """BGK with the non-equilibrium part projected on its second-order Hermite moment first.

    Latt & Chopard, Math. Comput. Simul. 72 (2006) 165, eqs. 9-11.
    """

    kind: ClassVar[str] = "regularized"


@dataclass(frozen=True)
class TRT(EitherEquilibrium):
    """Two relaxation times, of the even and the odd part (Ginzburg, Adv. Water Resour. 28 (2005) 1171).

    Args:
        magic: ``(tau+ - 1/2)(tau- - 1/2)``, above 0. 3/16 puts the walls of a Poiseuille flow exactly half-way; 1/4 is
            the most stable.
    """

    kind: ClassVar[str] = "trt"
    case_parameters: ClassVar[dict[str, Any]] = {"magic": {"type": "number", "exclusiveMinimum": 0}}
    magic: float = 3 / 16

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "magic", checks.number("magic", self.magic, above=0, at_most=MAX_VISCOSITY))

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        return super().parameters(stencil) | {"magic": self.magic}


@dataclass(frozen=True)
class RecursiveRegularized(EitherEquilibrium):
    """BGK with the non-equilibrium part rebuilt from its stress to all orders that the stencil resolves.

    Malaspinas, arXiv:1505.06900 (2015); Coreixas et al., Phys. Rev. E 96 (2017) 033306. The equilibrium has all these
    orders too, so that the viscosity does not depend on the speed along the axes. In D3Q19 the trace of the stress
    relaxes with 1, which is a bulk viscosity of 1/9.

    The hybrid form (Jacob, Malaspinas & Sagaut, J. Turbul. 19 (2018) 1051) takes the part ``1 - hybrid`` of the stress
    from finite differences of the velocity of the step before, ``-2 rho tau cs2 S``, which damps what the cells do not
    resolve. A cell with walls next to it finds the velocity of the wall half a cell away, as with `WALE`.

    Args:
        viscosity: see `Collision`.
        hybrid: the part sigma of the stress that is the populations' own, above 0 and at most 1: 0.98 damps a little,
            0.7 much. None, as 1, for no finite differences.
    """

    kind: ClassVar[str] = "recursive-regularized"
    case_parameters: ClassVar[dict[str, Any]] = {
        "hybrid": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1}
    }
    hybrid: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hybrid is not None:
            part = checks.number("hybrid", self.hybrid, above=0, at_most=1)
            object.__setattr__(self, "hybrid", None if part == 1 else part)

    @property
    def takes_strain(self) -> bool:
        """Whether the collision takes the strain rate of velocities that are kept from step to step."""
        return self.hybrid is not None

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in the names of the engine; without `hybrid` where there are no finite differences."""
        return super().parameters(stencil) | ({} if self.hybrid is None else {"hybrid": self.hybrid})


@dataclass(frozen=True)
class CentralMoments(EitherEquilibrium):
    """Two relaxation times as of `TRT`, in the frame that moves with the fluid.

    After De Rosis & Coreixas, Phys. Fluids 32 (2020) 117101: Hermite central moments, of which the stress relaxes with
    the rate of the viscosity, those of third order with that of the magic parameter, those of higher order with 1. In
    D3Q19 the trace of the stress relaxes with 1, which is a bulk viscosity of 1/9.

    Args:
        magic: ``(tau+ - 1/2)(tau- - 1/2)``, above 0. 3/16 puts the walls of a Poiseuille flow half-way.
        least_odd_rate: the least rate of moments of third order, 0 to 2. At low viscosity the magic parameter makes
            them slow, and then a flow with structures of a few cells diverges. If not given, it is 0.6 in D3Q19, and
            in others ``0.005 (0.004 / viscosity - 1)``, 0 to 0.6: with 3/16 it does nothing at viscosities from 0.001
            on, and a Poiseuille flow on 16 cells is off by 0.3 % at 0.0005 and 0.4 % below 0.0001. 0 leaves all rates
            to ``magic``.
    """

    kind: ClassVar[str] = "central-moments"
    case_parameters: ClassVar[dict[str, Any]] = {
        "magic": {"type": "number", "exclusiveMinimum": 0},
        "least_odd_rate": {"type": ["number", "null"], "minimum": 0, "exclusiveMaximum": 2},
    }
    magic: float = 3 / 16
    least_odd_rate: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "magic", checks.number("magic", self.magic, above=0, at_most=MAX_VISCOSITY))
        if self.least_odd_rate is not None:
            least = checks.number("least_odd_rate", self.least_odd_rate, at_least=0, below=2)
            object.__setattr__(self, "least_odd_rate", least)

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        least = self.least_odd_rate
        if least is None:
            least = _core.least_odd_rate(stencil.name, self.viscosity)
        return super().parameters(stencil) | {"magic": self.magic, "least_odd_rate": least}

    def slow_moments(self, stencil: _core.Stencil) -> str:
        """What is at risk where moments of third order relax with less than half of the default's least rate."""
        rate = 1 / (self.magic / (3 * self.viscosity) + 0.5)
        rate = max(rate, self.parameters(stencil)["least_odd_rate"])
        if rate >= 0.5 * _core.least_odd_rate(stencil.name, self.viscosity):
            return ""
        return (
            f"moments of third order, which relax with {rate:.2g}, so that structures of a few cells diverge; "
            "leave least_odd_rate at its default"
        )

    def without_defaults(self, stencil: _core.Stencil) -> CentralMoments:
        """The same collision, without a least rate that `stencil` has anyway."""
        is_default = self.least_odd_rate == _core.least_odd_rate(stencil.name, self.viscosity)
        return replace(self, least_odd_rate=None) if is_default else self


def _items(rates: Mapping[str, float]) -> list[tuple[str, float]]:
    try:
        return list(rates.items())
    except Exception as error:  # of a type of the user's
        right = "must be a dict of names and numbers"
        raise TypeError(f"rates: {checks.shown(rates)} given, {right} ({error})") from None


def _named(rates: Mapping[str, float] | str | None) -> dict[str, float]:
    """Rates by name; none for the published ones."""
    return {} if rates is None or isinstance(rates, str) else dict(rates)


def _odd_groups(stencil: _core.Stencil) -> list[str]:
    """The groups of moments that take opposite values at opposite velocities, momentum apart."""
    matrix = np.asarray(stencil.moment_matrix)
    is_odd = (matrix == -matrix[:, np.asarray(stencil.opposite)]).all(axis=1)
    groups = {group for group, odd in zip(stencil.moment_groups, is_odd, strict=True) if odd}
    return [name for name in stencil.default_rates if name in groups]


@dataclass(frozen=True)
class MRT(EitherEquilibrium):
    """Multiple relaxation times, in a published moment basis for each stencil.

    D2Q9: Lallemand & Luo, Phys. Rev. E 61 (2000) 6546. D3Q19: d'Humières et al., Phil. Trans. R. Soc. A 360 (2002)
    437. D3Q27: Suga et al., Comput. Math. Appl. 69 (2015) 518.

    Args:
        rates: relaxation rates by name, each above 0 and below 2, that replace the defaults. The names that a
            stencil has are the keys of ``lbmgpu.stencil(name).default_rates``. The rate of the shear stress follows
            from the viscosity and cannot be set. The defaults are the published ones, which is also what
            ``"published"`` says, but for ``"xxe"`` of D3Q27, which is that of the shear stress: the published 1.98 is
            unstable at viscosities above 0.015.
        magic: ``(tau - 1/2)(tau- - 1/2)``, above 0, from which all rates of odd moments follow that `rates` does not
            give, as of `TRT` at the same viscosity; 3/16 puts the walls of a Poiseuille flow half-way. None, the
            default, leaves them at the published values, which misplace walls. An eddy viscosity does not change them.
    """

    kind: ClassVar[str] = "mrt"
    case_parameters: ClassVar[dict[str, Any]] = {
        "rates": {
            "if": {"type": "string"},
            "then": {"const": "published"},
            "else": {
                "type": "object",
                "additionalProperties": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2},
            },
        },
        "magic": {"type": "number", "exclusiveMinimum": 0},
    }
    rates: Mapping[str, float] | Literal["published"] | None = None
    magic: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.magic is not None:
            object.__setattr__(self, "magic", checks.number("magic", self.magic, above=0, at_most=MAX_VISCOSITY))
        if isinstance(self.rates, str) and self.rates == "published":
            if self.magic is not None:
                raise ValueError("rates: 'published' given with magic, which sets the rates of the odd moments")
            object.__setattr__(self, "rates", None)
        if self.rates is None:
            return
        if not isinstance(self.rates, Mapping):
            raise TypeError(f"rates: {checks.shown(self.rates)} given, must be a dict of names and numbers")
        rates: dict[str, float] = {}
        for name, rate in _items(self.rates):
            if not isinstance(name, str):
                raise TypeError(f"rates: the key {checks.shown(name)} given, must be the name of a rate")
            rates[name] = checks.number(f"rates[{checks.shown(name)}]", rate, above=0, below=2)
        object.__setattr__(self, "rates", MappingProxyType(rates))

    def __repr__(self) -> str:
        rates = None if self.rates is None else _named(self.rates)
        magic = "" if self.magic is None else f", magic={self.magic!r}"
        last = f"{magic}, incompressible=True" if self.incompressible else magic
        return f"MRT(viscosity={self.viscosity!r}, smagorinsky={self.smagorinsky!r}, rates={rates!r}{last})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Its arguments, for pickle and copy: a read-only mapping goes through neither."""
        rates = None if self.rates is None else _named(self.rates)
        made = partial(MRT, smagorinsky=self.smagorinsky, magic=self.magic, incompressible=self.incompressible)
        return made, (self.viscosity, rates)

    def __hash__(self) -> int:
        rates = tuple(sorted(_named(self.rates).items()))
        return hash((self.viscosity, self.smagorinsky, self.magic, self.incompressible, rates))

    def check(self, stencil: _core.Stencil) -> None:
        """Raise ValueError where a rate's name is not one of `stencil`."""
        for name in _named(self.rates):
            if name == "nu":
                raise ValueError("rates: 'nu' given, the rate of the shear stress follows from the viscosity")
            if name not in stencil.default_rates:
                raise checks.unknown(f"rates of {stencil.name}", name, stencil.default_rates)

    def _all_rates(self, stencil: _core.Stencil) -> dict[str, float | None]:
        """The rate of every group by name; None for that of the shear stress."""
        odd: dict[str, float] = {}
        if self.magic is not None:
            odd = dict.fromkeys(_odd_groups(stencil), 1 / (self.magic / (3 * self.viscosity) + 0.5))
        return {**stencil.default_rates, **odd, **_named(self.rates)}

    def without_defaults(self, stencil: _core.Stencil) -> MRT:
        """The same collision with all rates by name, but for those that are those of `stencil` anyway."""
        every = self._all_rates(stencil)
        own = {name: rate for name, rate in every.items() if rate is not None and rate != stencil.default_rates[name]}
        return MRT(self.viscosity, own or None, smagorinsky=self.smagorinsky, incompressible=self.incompressible)

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        rates = self._all_rates(stencil)
        return super().parameters(stencil) | {"rates": {name: rate for name, rate in rates.items() if rate is not None}}


@dataclass(frozen=True)
class Cumulant(FlowCollision):
    """Relaxation of cumulants, for D3Q27: robust at high Reynolds numbers, with hardly any dissipation of its own.

    Geier, Schönherr, Pasquali & Krafczyk, Comput. Math. Appl. 70 (2015) 507, with its corrections for Galilean
    invariance; parametrised as Geier, Pasquali & Schönherr, J. Comput. Phys. 348 (2017) 862.

    Args:
        bulk_viscosity: cells squared a step, above 0; ``2 viscosity / 3`` lets the trace of the stress relax as the
            rest of it. None for 1/9, at which the trace relaxes at the rate 1.
        limiter: the third-order cumulant, divided by the density, at which a rate of the parametrisation is half-way
            to 1; smaller ones are more stable and dissipate more. Above 0; None for no limit.
        parametrized: whether the third-order rates and the fourth-order equilibria are those for which the error of
            diffusion is of fourth order. They exist for viscosities below 1/42, with the default bulk viscosity; at
            others, as with False, all rates but that of the shear stress and the trace are 1.
    """

    kind: ClassVar[str] = "cumulant"
    case_parameters: ClassVar[dict[str, Any]] = {
        "bulk_viscosity": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "limiter": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "parametrized": {"type": "boolean"},
    }
    bulk_viscosity: float | None = None
    limiter: float | None = 0.01
    parametrized: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bulk_viscosity is not None:
            value = checks.number("bulk_viscosity", self.bulk_viscosity, above=0, at_most=MAX_VISCOSITY)
            object.__setattr__(self, "bulk_viscosity", value)
        if self.limiter is not None:
            value = checks.number("limiter", self.limiter, above=1 / MAX_VISCOSITY, at_most=MAX_VISCOSITY)
            object.__setattr__(self, "limiter", value)
        object.__setattr__(self, "parametrized", checks.flag("parametrized", self.parametrized))

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        return super().parameters(stencil) | {
            "bulk_viscosity": self.bulk_viscosity or 1 / 9,
            "limiter": self.limiter or 0.0,
            "parametrized": float(self.parametrized),
        }

    def record(self, stencil: _core.Stencil) -> dict[str, Any]:
        """What a checkpoint holds of it: its name and all its parameters, as JSON, and None where it is."""
        own = {"bulk_viscosity": self.bulk_viscosity, "limiter": self.limiter, "parametrized": self.parametrized}
        return super().record(stencil) | own
