"""Lattice Boltzmann fluid simulation: domains, conditions and collisions in Python, the cell updates in C++."""

import importlib as _importlib
import logging as _logging
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ._core import CompileError, CudaError, stencil_names
from .collisions import BGK, MRT, TRT, CentralMoments, Cumulant, RecursiveRegularized, Regularized
from .conditions import (
    Adiabatic,
    FreeSlip,
    Isothermal,
    MovingWall,
    NoSlip,
    Outflow,
    Periodic,
    PressureOutlet,
    Sponge,
    VelocityInlet,
)
from .custom_collision import CustomCollision
from .domain import Domain, stencil
from .errors import (
    CaseError,
    CheckpointError,
    CoveredFaceWarning,
    DistantReferenceWarning,
    DivergedError,
    IdleGpuWarning,
    LayoutError,
    LinearlyUnstableWarning,
    LoneProcessWarning,
    LostDigitsWarning,
    MissingResultsWarning,
    StagedExchangeWarning,
    StudyChangedWarning,
    ThermallyUnstableError,
    TooLittleMemoryError,
    TooManyThreadsWarning,
    UnreachableToleranceWarning,
    warn_of_old_name as _warn_of_old_name,
)
from .layout import Block, Layout
from .multispeed import ThermalBGK
from .parallel.placement import place_layout
from .parallel.ranks import end_all_if_launched as _end_all_if_launched, set_mpi_timeout
from .solver.report import Report
from .solver.run import Checkpoint, Every, RunResult, Steady
from .solver.solver import Solver
from .thermal import BodyHeatFlux, Convection, HybridThermal, diffusivity_limit, speed_limit
from .turbulence import WALE, Smagorinsky, Vreman
from .units import Units

if _TYPE_CHECKING:
    from . import case as case, plot as plot
    from .advice.flow import Advice, advise
    from .case import centreline as centreline
    from .planning.planner import Plan, plan
    from .study import Ensemble, Study

    __version__: str

_logging.getLogger("lbmgpu").addHandler(_logging.NullHandler())  # what to show is up to the program
_end_all_if_launched()
_OLD_NAMES = {"Diverged": "DivergedError", "ThermallyUnstable": "ThermallyUnstableError"}
_LOADED_WHEN_USED = {
    "Advice": "advice.flow",
    "Ensemble": "study.ensemble",
    "advise": "advice.flow",
    "Plan": "planning.planner",
    "Study": "study",
    "case": "case",
    "centreline": "case.centreline",
    "plan": "planning.planner",
    "plot": "plot",
}
"""The modules that take a while to load, by the public names that are in them."""

__all__ = [
    "BGK",
    "MRT",
    "TRT",
    "WALE",
    "Adiabatic",
    "Advice",
    "Block",
    "BodyHeatFlux",
    "CaseError",
    "CentralMoments",
    "Checkpoint",
    "CheckpointError",
    "CompileError",
    "Convection",
    "CoveredFaceWarning",
    "CudaError",
    "Cumulant",
    "CustomCollision",
    "DistantReferenceWarning",
    "DivergedError",
    "Domain",
    "Ensemble",
    "Every",
    "FreeSlip",
    "HybridThermal",
    "IdleGpuWarning",
    "Isothermal",
    "Layout",
    "LayoutError",
    "LinearlyUnstableWarning",
    "LoneProcessWarning",
    "LostDigitsWarning",
    "MissingResultsWarning",
    "MovingWall",
    "NoSlip",
    "Outflow",
    "Periodic",
    "Plan",
    "PressureOutlet",
    "RecursiveRegularized",
    "Regularized",
    "Report",
    "RunResult",
    "Smagorinsky",
    "Solver",
    "Sponge",
    "StagedExchangeWarning",
    "Steady",
    "Study",
    "StudyChangedWarning",
    "ThermalBGK",
    "ThermallyUnstableError",
    "TooLittleMemoryError",
    "TooManyThreadsWarning",
    "Units",
    "UnreachableToleranceWarning",
    "VelocityInlet",
    "Vreman",
    "__version__",
    "advise",
    "diffusivity_limit",
    "place_layout",
    "plan",
    "set_mpi_timeout",
    "speed_limit",
    "stencil",
    "stencil_names",
]


def __getattr__(name: str) -> _Any:
    """What takes a while to be loaded, when it is used: pictures, JSON cases, plans, and the version."""
    if name in _LOADED_WHEN_USED:
        place = _LOADED_WHEN_USED[name]
        module = _importlib.import_module(f"{__name__}.{place}")
        return module if place.rpartition(".")[2] == name else getattr(module, name)
    if name in _OLD_NAMES:
        _warn_of_old_name(f"{__name__}.{name}", _OLD_NAMES[name])
        return globals()[_OLD_NAMES[name]]
    if name == "__version__":
        from importlib.metadata import version

        globals()[name] = version("lbmgpu")
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOADED_WHEN_USED, "__version__"})
