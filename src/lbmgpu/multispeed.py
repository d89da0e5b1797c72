"""The multispeed thermal model: the collision of D2Q37, its sound speed and the temperatures at which it is stable.

The populations of D2Q37 carry mass, momentum and energy of a compressible ideal gas, so that the temperature is a
moment of them. The stencil goes with `ThermalBGK` alone, the other stencils with the collisions of `collisions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _core, checks, models
from .collisions import MAX_VISCOSITY, Collision

MAX_GRAVITY = 1.0
"""An acceleration that would change the velocity by one cell a step within a step."""
LOWEST, HIGHEST = 0.3, 2.0
"""The reduced temperatures ``T / cs2`` beyond which no relaxation time is stable."""
GAMMA = 2.0
"""Ratio of the specific heats: c_v = 1 and c_p = 2 for D = 2."""
SPECIFIC_HEAT = 2.0
"""c_p."""
LEAST_OF_FOURTH_ORDER = 0.55
"""The least relaxation times with which `ThermalBGK` takes `fourth_order_diffusion`."""
ROUNDING = 1e-9
"""By which a time that was computed may be less than the least one."""
FLUXES = ("exchange", "gradient")
"""How the heat through walls is found; see `Solver.heat_flux`."""


@dataclass(frozen=True)
class ThermalBGK(Collision):
    """A compressible ideal gas with its temperature: BGK towards the fourth-order Hermite equilibrium, for D2Q37.

    ``rho``, ``u`` and ``T`` are moments of the populations, ``2 rho T = sum_i f_i |c_i - u|^2``, the pressure is
    ``p = rho T``, and the sound speed ``sqrt(2 T)``. Populations relax towards the Hermite expansion of the local
    Maxwellian up to the fourth order (Shan, Yuan & Chen, J. Fluid Mech. 550 (2006) 413), with velocity and
    temperature shifted by what gravity does in a step (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299; Scagliarini et
    al., Phys. Fluids 22 (2010) 055101). The stencil on GPUs: Calore et al., Parallel Computing 58 (2016) 1.

    A fluid of temperature T has the kinematic viscosity ``T (tau - 1/2)``, so `viscosity` and `diffusivity` are those
    at ``T = cs2 = 0.69795``, near which the model is stable; the dynamic viscosity is ``p (tau - 1/2)``.

    Args:
        viscosity: kinematic viscosity at T = cs2, cells squared a step, above 0.
        prandtl: viscosity over thermal diffusivity, above 0; 1 is BGK as it is, others relax the third-order moment,
            the heat flux in the frame of the gas, with `tau_heat` (Chen, Gopalakrishnan & Zhang, Int. J. Mod. Phys.
            C 25 (2014) 1450046).
        gravity: acceleration, cells a step squared, a vector ``(2,)``, each component at most 1 in magnitude; None for
            none. It acts on all of the fluid, in proportion to its density.
        fourth_order_diffusion: whether the other moments of third order and those of fourth relax with times of their
            own, so that waves of the wavenumber k decay as by the viscosity and the diffusivity up to ``k^4``, for
            `tau` and `tau_heat` from 0.55, which they must be at least, to about 0.7, and temperatures up to 1.2 cs2.
            The moments are central ones (Shan, Phys. Rev. E 100 (2019) 043308). It takes 1.6 times the operations.

    Raises:
        TypeError, ValueError: not finite numbers in range; `fourth_order_diffusion` with times below 0.55.
    """

    kind: ClassVar[str] = "thermal-bgk"
    case_parameters: ClassVar[dict[str, Any]] = {
        "prandtl": {"type": "number", "exclusiveMinimum": 0},
        "gravity": {"$ref": "#/$defs/vector", "description": "Acceleration."},
        "fourth_order_diffusion": {"type": "boolean"},
    }
    prandtl: float = 1.0
    gravity: Any = None
    fourth_order_diffusion: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "prandtl", checks.number("prandtl", self.prandtl, above=0, at_most=MAX_VISCOSITY))
        checks.number("viscosity / prandtl", self.viscosity / self.prandtl, above=0, at_most=MAX_VISCOSITY)
        object.__setattr__(self, "gravity", (0.0, 0.0) if self.gravity is None else _vector(self.gravity))
        flag = checks.flag("fourth_order_diffusion", self.fourth_order_diffusion)
        object.__setattr__(self, "fourth_order_diffusion", flag)
        if flag and min(self.tau, self.tau_heat) < LEAST_OF_FOURTH_ORDER - ROUNDING:
            given = f"True given with viscosity {self.viscosity:.6g} and viscosity / prandtl {self.diffusivity:.6g}"
            least = (LEAST_OF_FOURTH_ORDER - 0.5) * self.viscosity / (self.tau - 0.5)
            raise ValueError(
                f"fourth_order_diffusion: {given}, which must both be at least {least:.6g}, for relaxation times of "
                f"{LEAST_OF_FOURTH_ORDER}: nearer to 1/2 waves grow; more cells or a higher speed go with larger ones"
            )

    @property
    def tau(self) -> float:
        """Relaxation time of the stress, steps: ``viscosity / cs2 + 1/2``."""
        return self.viscosity / _core.stencil(models.that_carry_temperature()[0]).cs2 + 0.5

    @property
    def tau_heat(self) -> float:
        """Relaxation time of the heat flux, steps: ``(tau - 1/2) / prandtl + 1/2``."""
        return (self.tau - 0.5) / self.prandtl + 0.5

    @property
    def diffusivity(self) -> float:
        """Thermal diffusivity at T = cs2, cells squared a step: ``viscosity / prandtl``."""
        return self.viscosity / self.prandtl

    def conductivity(self, pressure: float) -> float:
        """Thermal conductivity k of Fourier's law at a pressure ``p = rho T``: ``2 p (tau_heat - 1/2)``.

        That is ``c_p p (tau_heat - 1/2)`` with c_p = 2 (Shan, Yuan & Chen, J. Fluid Mech. 550 (2006) 413, for BGK), so
        that ``k / (rho c_p)`` is `diffusivity` at T = cs2.

        Args:
            pressure: above 0, in lattice units.

        Raises:
            TypeError, ValueError: not a finite number above 0.
        """
        return SPECIFIC_HEAT * checks.number("pressure", pressure, above=0) * (self.tau_heat - 0.5)

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, defaults included, in the names of the engine."""
        own = {"prandtl": self.prandtl, "gravity": list(self.gravity)}
        return super().parameters(stencil) | own | {"fourth_order_diffusion": float(self.fourth_order_diffusion)}

    def record(self, stencil: _core.Stencil) -> dict[str, Any]:
        """What a checkpoint holds of it: its name and its parameters, as JSON; `fourth_order_diffusion` only if so."""
        own = super().record(stencil)
        del own["fourth_order_diffusion"]
        return own | ({"fourth_order_diffusion": True} if self.fourth_order_diffusion else {})


def _vector(value: Any) -> tuple[float, ...]:
    array = checks.real_array("gravity", value)
    if array.shape != (2,):
        raise ValueError(f"gravity: {checks.shown(value)} given, must be a vector of 2 components")
    if np.abs(array).max() > MAX_GRAVITY:
        raise ValueError(f"gravity: {checks.shown(value)} given, must be at most {MAX_GRAVITY:g} in each component")
    return tuple(array.tolist())


def mach_unit(stencil: _core.Stencil) -> float:
    """Square of the sound speed in Mach numbers: ``2 cs2``, at T = cs2, where populations carry T; else ``cs2``."""
    return GAMMA * stencil.cs2 if models.of(stencil.name).carries_temperature else stencil.cs2


def check_temperatures(stencil: str, name: str, values: NDArray[np.float64]) -> None:
    """Raise ValueError where a temperature that populations carry makes them unstable whatever their viscosity."""
    if not models.of(stencil).carries_temperature:
        return
    cs2 = _core.stencil(stencil).cs2
    for value in (values.min(), values.max()):
        if not LOWEST * cs2 <= value <= HIGHEST * cs2:
            right = f"must be between {LOWEST * cs2:.3g} and {HIGHEST * cs2:.3g} with {stencil}"
            hint = f"it is in units of a cell a step squared, and stablest near cs2, {cs2:.4g}"
            raise ValueError(f"{name}: {value:g} given, {right}; {hint}")
