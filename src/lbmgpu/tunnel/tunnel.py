"""`WindTunnel`: what users have of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..collisions import Collision, Cumulant, RecursiveRegularized
from ..domain import Domain
from ..errors import GeometryError, TooLittleMemoryError
from ..geometry import Mesh
from ..output.batches import FEWEST
from ..output.forces import Coefficients
from ..output.statistics import Mean
from ..solver import Solver, simulation_of
from ..solver.run import Checkpoint, Every, RunResult
from ..solver.surface import Surface
from ..turbulence import WALE, TurbulenceModel
from ..units import Units
from . import coefficients, setup, trust
from .coefficients import AeroCoefficients
from .trust import Gap, State, Trust, YPlus

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLES = 200
"""Of the forces in a turnover, about, and at most one a step."""


class WindTunnel:
    """A body in a stream along x, from its shape and two numbers: domain, units, faces, sponges, collision, recorders.

    The body is scaled so that it is `length_phys` long along x, and z is upwards. Before it lie 1.5 lengths of stream,
    behind it 3, and beyond them sponges. Cross-section and height follow from `blockage`. Across the stream the body is
    in the middle, where ends that are a whole number of cells apart lie between centres of cells; above a ground its
    height is that of `clearance_phys`. A *turnover* is the time in which the stream moves on by the length of the body.
    All processes make it, and call its methods, together.

    Args:
        body: the path of an STL, OBJ or PLY file, a `Geometry`, or a dict of these by name, whose places to each other
            are kept.
        length_phys: of all bodies together along x, m; the unit of their files does not matter.
        speed_phys: of the stream, m/s.
        fluid: ``"air"`` or ``"water"``, of 20 degrees Celsius, or a dict of ``viscosity_phys`` (kinematic, m2/s) and
            ``density_phys`` (kg/m3).
        cells_across: cells along the length of the body, at least 8; along x, whatever its width and height are.
        reynolds: a bound of the Reynolds number of the flow that is computed, by the length; None for none.
        ground: ``"moving"`` with the stream, as under a car on a road, ``"fixed"`` as that of a tunnel, or None for a
            body in free air.
        clearance_phys: of the lowest point of the body over the ground, m, whatever height that has in a file; at most
            its length. What touches the ground has no pressure there, which is a part of the lift.
        sides: of the faces beside the body, and without a ground of those above and below too: ``"slip"`` or
            ``"periodic"``. Above a ground the upper face has slip in any case.
        blockage: the part of the cross-section that the body covers, up to 0.25.
        speed: of the stream, cells a step, up to 0.15; compressibility changes forces by about ``3 speed**2``.
        collision: a callable that makes one of a viscosity, such as a class of collisions.
        stencil: None for D3Q27 with `Cumulant`, else D3Q19.
        turbulence: the subgrid model; None for none.
        settle: turnovers after which the coefficients count.
        means: whether means of velocity and pressure are recorded after that, for `surface`.
        options: of `Solver`, such as ``device``, ``precision``, ``layout`` and ``comm``.

    Attributes:
        setup: a `TunnelSetup`, all sizes.
        solver: the `Solver`; nothing keeps from using it.
        recorders: of the coefficients, by body.
        mean: the recorder of means, or None.

    Raises:
        TypeError, ValueError, GeometryError, OSError: a wrong argument. As `Solver` too.
    """

    def __init__(
        self,
        body: Any,
        *,
        length_phys: float,
        speed_phys: float,
        fluid: str | Mapping[str, float] = "air",
        cells_across: int = 128,
        reynolds: float | None = None,
        ground: str | None = "moving",
        clearance_phys: float = 0.0,
        sides: str = "slip",
        blockage: float = 0.04,
        speed: float = 0.05,
        collision: Callable[[float], Collision] = RecursiveRegularized,
        stencil: str | None = None,
        turbulence: TurbulenceModel | None = WALE(),  # noqa: B008 - a frozen value
        settle: float = 10.0,
        means: bool = False,
        **options: Any,
    ) -> None:
        self._found_gaps: list[Gap] | None = None
        self._settle = checks.number("settle", settle, at_least=0)
        means = checks.flag("means", means)
        if not callable(collision):
            right = "a class of collisions, such as lbm.TRT, or a function of a viscosity that makes one"
            raise TypeError(f"collision: {checks.shown(collision)} given, must be {right}")
        for name in options:
            checks.choice("argument", name, _arguments())
        self.setup = setup.made(
            body,
            length_phys=length_phys,
            speed_phys=speed_phys,
            fluid=fluid,
            cells_across=cells_across,
            reynolds=reynolds,
            ground=ground,
            clearance_phys=clearance_phys,
            sides=sides,
            blockage=blockage,
            speed=speed,
            stencil=stencil or ("D3Q27" if collision is Cumulant else "D3Q19"),
        )
        made = self.setup
        try:
            self.solver = Solver(made.domain, collision(made.viscosity), turbulence=turbulence, **options)
        except TooLittleMemoryError as error:
            raise setup.refused(made, error) from None
        self.solver.initialize(velocity=(made.speed, 0.0, 0.0))
        every = 2 * int(self.turnover_steps / (2 * SAMPLES)) + 1  # odd, as forces may swing from step to step
        self.recorders = {name: _coefficients(name, made, every) for name in made.bodies}
        start = self._settle_steps()
        self.mean = Mean("velocity", "pressure", every=every, start=start, name="tunnel_means") if means else None
        self.solver.record(*self.recorders.values(), *([] if self.mean is None else [self.mean]))

    @property
    def domain(self) -> Domain:
        """The domain."""
        return self.setup.domain

    @property
    def units(self) -> Units:
        """Its units."""
        return self.setup.units

    @property
    def turnover_steps(self) -> float:
        """Steps in which the stream moves on by the length of the body."""
        return self.setup.cells / self.setup.speed

    def run(
        self, turnovers: float = 30.0, *, progress: bool = False, callbacks: Sequence[Every | Checkpoint] = ()
    ) -> RunResult:
        """Advance by so many turnovers; `progress` and `callbacks` are those of `Solver.run`.

        Raises:
            ValueError: fewer than four samples of the coefficients would come after `settle` turnovers, too few for an
                interval; ``tunnel.solver.run(steps)`` advances without coefficients. As `Solver.run` too.
        """
        steps = max(1, round(checks.number("turnovers", turnovers, above=0) * self.turnover_steps))
        every = next(iter(self.recorders.values())).every
        samples = (self.solver.steps + steps) // every - self._settle_steps() // every
        if samples < FEWEST:
            least = self._settle + (FEWEST + 1) * every / self.turnover_steps - self.solver.steps / self.turnover_steps
            raise ValueError(
                f"turnovers: {turnovers:g} given, must be above {least:.3g}: coefficients count after the "
                f"{self._settle:g} of 'settle', and their intervals need {FEWEST} samples at least"
            )
        return self.solver.run(steps, progress=progress, callbacks=callbacks)

    def coefficients(self, body: str | None = None, *, level: float = 0.95) -> AeroCoefficients:
        """Means of the coefficients after `settle` turnovers, with confidence intervals, which are statistical only.

        Moments are about the point of the ground below the middle of the bodies' box, or without a ground about that
        middle. The intervals are those of batch means (`Mean.confidence`).

        Args:
            body: the name of one; None for the sum over all. Both are divided by the frontal area of all.
            level: of confidence, above 0 and below 1.

        Raises:
            ValueError: a wrong argument, or no sample yet.
        """
        level = checks.number("level", level, above=0, below=1)
        names = list(self.recorders) if body is None else [checks.choice("body", body, list(self.recorders))]
        after = self._settle_steps()
        return coefficients.of_recorders([self.recorders[n] for n in names], after, level, self.turnover_steps)

    def surface(self, body: str | None = None, *, size: float = 1.0, mesh: Mesh | None = None) -> Surface | None:
        """Pressure, friction, Cp, Cf and y+ on the triangles of a body, by means if there are; see `Solver.surface`.

        Args:
            body: its name; None where there is one only.
            size, mesh: as for `Solver.surface`.

        Returns:
            A `Surface` on rank 0, None elsewhere.

        Raises:
            ValueError: no step has been done, or a wrong argument.
        """
        self._check_begun("surface")
        names = list(self.setup.bodies)
        if body is None and len(names) > 1:
            raise ValueError(f"body: None given, must be one of {', '.join(map(repr, names))}")
        name = names[0] if body is None else checks.choice("body", body, names)
        mean = self.mean if self.mean is not None and self.mean.samples > 0 else None
        return self.solver.surface(name, speed=self.setup.speed, size=size, mesh=mesh, mean=mean)

    def surfaces(self) -> dict[str, Surface | None]:
        """`surface` of each body; without those that no triangles are known of."""
        found = {}
        for name in self.setup.bodies:
            with suppress(GeometryError):
                found[name] = self.surface(name)
        return found

    def y_plus(self, surfaces: Mapping[str, Surface | None] | None = None) -> dict[str, YPlus]:
        """y+ of half a cell over the surface of each body; without those that no triangles are known of.

        Args:
            surfaces: those of `surfaces`, where they have been made; None to make them.
        """
        found = {}
        for name, surface in (self.surfaces() if surfaces is None else surfaces).items():
            own = None if surface is None else trust.y_plus_of(surface)
            numbers = None if own is None else [own.mean, own.most, own.above]
            shared = simulation_of(self.solver).processes.shared(numbers)[0]
            if shared is not None:
                found[name] = YPlus(*shared)
        return found

    def trust(self, surfaces: Mapping[str, Surface | None] | None = None) -> Trust:
        """Whether drag and lift are to be trusted; printed, sentences that say why not, the worst first.

        It looks at the present state (top speed, Mach number and density), at forces that swing from step to step, at
        the relaxation time, Reynolds numbers at which the sides of the tunnel count most, gaps of fewer than three
        cells, the boundary layers, whether pressure and friction on the surfaces add up to the drag, the cells across
        each body, and the turnovers that there are samples of.

        Args:
            surfaces: see `y_plus`.

        Raises:
            ValueError: no step has been done.
        """
        self._check_begun("trust")
        made = self.setup
        surfaces = self.surfaces() if surfaces is None else surfaces
        return trust.judged(
            made.cells,
            made.reynolds,
            made.reynolds_phys,
            self.y_plus(surfaces),
            state=self._state(),
            speed=made.speed,
            sound=simulation_of(self.solver).stencil.cs2 ** 0.5,
            gaps=self._gaps(),
            across={name: float(np.sort(np.diff(b.bounds, axis=0)[0])[1]) for name, b in made.bodies.items()},
            blockage=made.blockage,
            turnovers=self._turnovers(),
            drags=self._drags(surfaces),
        )

    def _settle_steps(self) -> int:
        """Steps of `settle`, after which samples count."""
        return round(self._settle * self.turnover_steps)

    def _drags(self, surfaces: Mapping[str, Surface | None]) -> dict[str, tuple[float, float]]:
        """The coefficients of drag of bodies, as their surfaces add up to and by their links at the same time."""
        scale = self.setup.speed**2 * self.setup.area / 2
        is_mean = self.mean is not None and self.mean.samples > 0
        found = {}
        for name, surface in surfaces.items():
            own = None if surface is None else trust.drag_of(surface)
            of_surface = simulation_of(self.solver).processes.shared(own)[0]
            recorder = self.recorders[name]
            chosen = recorder["drag"][recorder.steps > self._settle_steps()]
            of_links = chosen if is_mean else chosen[-2:]  # an even step and an odd one
            if of_surface is not None and len(of_links) > 0:
                found[name] = (of_surface / scale, float(of_links.mean()))
        return found

    def _turnovers(self) -> float:
        """Those that samples of the coefficients are of; 0 without any."""
        recorder = next(iter(self.recorders.values()))
        samples = np.count_nonzero(recorder.steps > self._settle_steps())
        return float(samples) * recorder.every / self.turnover_steps

    def _state(self) -> State:
        """The extremes of the state, and how forces swing after `settle`."""
        simulation = simulation_of(self.solver)
        with simulation.lock:
            speed, cell, lowest, highest, *_ = simulation.engine.extremes()
        steps = next(iter(self.recorders.values())).steps
        chosen = steps > self._settle_steps()
        forces = {
            name: np.sum([each[name] for each in self.recorders.values()], axis=0)[chosen] for name in ("drag", "lift")
        }
        drag = float(forces["drag"].mean()) if chosen.any() else 0.0
        swings = trust.swings_of(steps[chosen], forces)
        return State(speed, cell or (), lowest, highest, swings, drag)

    def _gaps(self) -> list[Gap]:
        """The narrow gaps beside bodies, found once on rank 0, as cells do not change."""
        if self._found_gaps is None:
            found = simulation_of(self.solver).processes.on_first(lambda: setup.narrow_gaps(self.setup.domain))
            shared = simulation_of(self.solver).processes.shared(found)[0]
            self._found_gaps = [Gap(*each) for each in shared]
        return self._found_gaps

    def _check_begun(self, method: str) -> None:
        """Refuse what would look at the initial state, a stream that knows nothing of the body."""
        if self.solver.steps == 0:
            raise ValueError(f"{method}: of the state at step 0, before any run; call run() first")

    def plot(self, field: str = "speed", slice: tuple[str, int] | str | None = None, **view: Any) -> Figure | None:
        """A picture of a field in metres and seconds, in the middle plane along the stream; see `Solver.plot`.

        Raises:
            ValueError: no step has been done; ``tunnel.solver.plot`` shows the initial state.
        """
        self._check_begun("plot")
        middle = ("y", self.domain.shape[1] // 2) if slice is None else slice
        return self.solver.plot(field, middle, units=self.units, **view)

    def __str__(self) -> str:
        made, cells = self.setup, " x ".join(map(str, self.domain.shape))
        ground = {"moving": "on a moving ground", "fixed": "on a fixed ground", None: "in free air"}[made.ground]
        area = float(self.units.length_phys(1.0)) ** 2 * made.area
        capped = "" if made.reynolds == made.reynolds_phys else f", in place of {made.reynolds_phys:.3g}"
        return "\n".join(
            [
                f"Wind tunnel: {', '.join(made.bodies)} {ground}, {cells} cells of {self.units.cell_phys:.3g} m",
                f"Reynolds number {made.reynolds:.3g} by the length of {made.cells} cells{capped}",
                f"frontal area {area:.4g} m2, {100 * made.blockage:.2g} % of the cross-section",
                f"{made.speed:g} cells a step, a step of {self.units.step_phys:.3g} s, a turnover of "
                f"{self.turnover_steps:.0f} steps",
                f"{self.solver.collision} on {self.domain.stencil}, {self.solver.turbulence or 'no subgrid model'}",
            ]
        )

    def __repr__(self) -> str:
        return f"WindTunnel({', '.join(self.setup.bodies)}, Domain{self.domain.shape}, Re {self.setup.reynolds:.3g})"


def _arguments() -> list[str]:
    """The names of what a wind tunnel can be given: its own arguments, and those of `Solver` that it does not set."""
    own = [name for name in signature(WindTunnel).parameters if name != "options"]
    return own + [name for name in signature(Solver).parameters if name not in ("domain", *own)]


def _coefficients(name: str, made: setup.TunnelSetup, every: int) -> Coefficients:
    """The recorder of a body."""
    return Coefficients(
        name,
        speed=made.speed,
        area=made.area,
        length=made.cells,
        lift="z",
        about=made.about,
        every=every,
        name=f"coefficients_{name}",
    )
