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
    DroppedFramesWarning,
    GeometryError,
    GeometryWarning,
    IdleGpuWarning,
    LayoutError,
    LinearlyUnstableWarning,
    LoneProcessWarning,
    LostDigitsWarning,
    MissingResultsWarning,
    ProjectedStateWarning,
    StagedExchangeWarning,
    StudyChangedWarning,
    ThermallyUnstableError,
    ThermallyUnstableWarning,
    ThinLayerWarning,
    TooLittleMemoryError,
    TooManyThreadsWarning,
    UnreachableToleranceWarning,
    warn_of_old_name as _warn_of_old_name,
)
from .geometry import Box, Cylinder, Geometry, Mesh, Plane, Polygon, Prism, Sphere, airfoil
from .geometry.rotation import Rotation
from .layout import Block, Layout
from .multispeed import ThermalBGK
from .output.statistics import Covariance, Maximum, Mean, Minimum
from .parallel.placement import place_layout
from .parallel.ranks import end_all_if_launched as _end_all_if_launched, set_mpi_timeout
from .solver.drawing import draw_by as _draw_by
from .solver.recording import Recorder
from .solver.report import Report
from .solver.run import Checkpoint, Every, RunResult
from .solver.solver import Solver
from .solver.steady import Steady
from .thermal import BodyHeatFlux, Convection, HybridThermal, diffusivity_limit, speed_limit
from .time_functions.functions import Ramp, Sine, Table
from .time_functions.motion import Motion, MotionTable, Oscillation
from .time_functions.product import Varying
from .turbulence import WALE, Smagorinsky, Vreman
from .units import Units

if _TYPE_CHECKING:
    from . import case as case, flows as flows, plot as plot
    from .advice.flow import Advice, advise
    from .case import centreline as centreline
    from .output.fluxes import Flux, HeatFlux
    from .output.forces import Coefficients, Forces
    from .output.probes import LineProbe, PlaneProbe, Probe
    from .output.series import Series, open_series
    from .output.spectra import Spectrum, Strouhal, spectrum, strouhal
    from .pictures.recorders import Image, Live, Movie
    from .planning.planner import Plan, plan
    from .study import Ensemble, Study
    from .tunnel import WindTunnel

    __version__: str

_logging.getLogger("lbmgpu").addHandler(_logging.NullHandler())  # what to show is up to the program
_end_all_if_launched()
_OLD_NAMES = {"Diverged": "DivergedError", "ThermallyUnstable": "ThermallyUnstableError"}
_LOADED_WHEN_USED = {
    "Advice": "advice.flow",
    "advise": "advice.flow",
    "case": "case",
    "centreline": "case.centreline",
    "Coefficients": "output.forces",
    "Ensemble": "study.ensemble",
    "flows": "flows",
    "Flux": "output.fluxes",
    "Forces": "output.forces",
    "HeatFlux": "output.fluxes",
    "Image": "pictures.recorders",
    "LineProbe": "output.probes",
    "Live": "pictures.recorders",
    "Movie": "pictures.recorders",
    "open_series": "output.series",
    "Plan": "planning.planner",
    "plan": "planning.planner",
    "PlaneProbe": "output.probes",
    "plot": "plot",
    "Probe": "output.probes",
    "Series": "output.series",
    "Spectrum": "output.spectra",
    "spectrum": "output.spectra",
    "Strouhal": "output.spectra",
    "strouhal": "output.spectra",
    "Study": "study",
    "WindTunnel": "tunnel",
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
    "Box",
    "CaseError",
    "CentralMoments",
    "Checkpoint",
    "CheckpointError",
    "Coefficients",
    "CompileError",
    "Convection",
    "Covariance",
    "CoveredFaceWarning",
    "CudaError",
    "Cumulant",
    "CustomCollision",
    "Cylinder",
    "DistantReferenceWarning",
    "DivergedError",
    "Domain",
    "DroppedFramesWarning",
    "Ensemble",
    "Every",
    "Flux",
    "Forces",
    "FreeSlip",
    "Geometry",
    "GeometryError",
    "GeometryWarning",
    "HeatFlux",
    "HybridThermal",
    "IdleGpuWarning",
    "Image",
    "Isothermal",
    "Layout",
    "LayoutError",
    "LineProbe",
    "LinearlyUnstableWarning",
    "Live",
    "LoneProcessWarning",
    "LostDigitsWarning",
    "Maximum",
    "Mean",
    "Mesh",
    "Minimum",
    "MissingResultsWarning",
    "Motion",
    "MotionTable",
    "Movie",
    "MovingWall",
    "NoSlip",
    "Oscillation",
    "Outflow",
    "Periodic",
    "Plan",
    "Plane",
    "PlaneProbe",
    "Polygon",
    "PressureOutlet",
    "Prism",
    "Probe",
    "ProjectedStateWarning",
    "Ramp",
    "Recorder",
    "RecursiveRegularized",
    "Regularized",
    "Report",
    "Rotation",
    "RunResult",
    "Series",
    "Sine",
    "Smagorinsky",
    "Solver",
    "Spectrum",
    "Sphere",
    "Sponge",
    "StagedExchangeWarning",
    "Steady",
    "Strouhal",
    "Study",
    "StudyChangedWarning",
    "Table",
    "ThermalBGK",
    "ThermallyUnstableError",
    "ThermallyUnstableWarning",
    "ThinLayerWarning",
    "TooLittleMemoryError",
    "TooManyThreadsWarning",
    "Units",
    "UnreachableToleranceWarning",
    "Varying",
    "VelocityInlet",
    "Vreman",
    "WindTunnel",
    "__version__",
    "advise",
    "airfoil",
    "diffusivity_limit",
    "open_series",
    "place_layout",
    "plan",
    "set_mpi_timeout",
    "spectrum",
    "speed_limit",
    "stencil",
    "stencil_names",
    "strouhal",
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


def _plot(solver: Solver, axes: _Any, **options: _Any) -> _Any:
    """`Solver.plot`, which is in a room that must not know that of pictures."""
    from .pictures.view import View, plot

    return plot(solver, View(**options), axes)


_draw_by(_plot)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOADED_WHEN_USED, "__version__"})
