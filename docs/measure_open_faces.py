"""What open faces of the recommended kinds do: noise in a stream, channels, sound, a vortex, the mass of a channel.

python docs/measure_open_faces.py [noise] [channel] [echo] [vortex] [mode] [--device cuda]

prints the tables of docs/boundaries.md, in some minutes on two cores; what is named only. The flows are those of the
tests in tests/validation/test_open_faces.py, which are shorter.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from reference.open_flows import AMPLITUDE, STREAM, oblique_packet, pulse

Array = NDArray[np.float64]
SHAPES = {"D2Q9": (40, 16), "D3Q19": (40, 12, 12), "D3Q27": (40, 12, 12)}
NOISE = 1e-4

INLETS: dict[str, Callable[[Any], Any]] = {
    "bounce-back": lambda u: lbm.VelocityInlet(u),
    "non-equilibrium": lambda u: lbm.VelocityInlet(u, scheme="non-equilibrium"),
    "regularized": lambda u: lbm.VelocityInlet(u, scheme="regularized"),
    "characteristic": lambda u: lbm.VelocityInlet(u, scheme="characteristic"),
}
OUTLETS: dict[str, Callable[[], Any]] = {
    "anti-bounce-back": lambda: lbm.PressureOutlet(1.0),
    "characteristic": lambda: lbm.PressureOutlet(1.0, scheme="characteristic"),
    "outflow": lambda: lbm.Outflow(),
    "local outflow": lambda: lbm.Outflow(scheme="link-local"),
}
FACES = [
    ("bounce-back", "anti-bounce-back"),
    ("bounce-back", "outflow"),
    ("bounce-back", "local outflow"),
    ("regularized", "outflow"),
    ("regularized", "characteristic"),
    ("characteristic", "characteristic"),
]


def add_sponges(domain: lbm.Domain, sponge: tuple[int, float] | None) -> None:
    """One before each end."""
    if sponge is not None:
        domain.add_sponge("-x", *sponge)
        domain.add_sponge("+x", *sponge)


def noise_left(
    collision: Any,
    stencil: str,
    speed: float,
    inlet: str,
    outlet: str,
    sponge: tuple[int, float] | None,
    *,
    passages: float = 10,
    device: str = "cpu",
    shape: tuple[int, ...] | None = None,
) -> tuple[float, float]:
    """The largest departure from a uniform stream after a tenth of the time and at the end; NaN where it has died."""
    shape = SHAPES[stencil] if shape is None else shape
    stream = (speed,) + (0.0,) * (len(shape) - 1)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"], domain.faces["+x"] = INLETS[inlet](stream), OUTLETS[outlet]()
    add_sponges(domain, sponge)
    solver = lbm.Solver(domain, collision, precision="float64", device=device)
    uniform = np.reshape(stream, (-1,) + (1,) * len(shape))
    random = np.random.default_rng(1)
    solver.initialize(
        density=1 + NOISE * random.uniform(-1, 1, shape),
        velocity=uniform + NOISE * random.uniform(-1, 1, (len(shape), *shape)),
    )
    steps = int(passages * shape[0] / speed)
    left = []
    try:
        for part in (steps // 10, steps - steps // 10):
            solver.run(part)
            left.append(float(np.abs(solver.velocity() - uniform).max()))
    except lbm.DivergedError:
        left = [*left, np.nan, np.nan][:2]
    return left[0], left[1]


def channel(
    collision: Any,
    inlet: str,
    outlet: str,
    sponge: tuple[int, float] | None,
    *,
    steps: int = 40000,
    device: str = "cpu",
) -> tuple[float, float]:
    """Of a channel of 160 x 41 cells with a parabola of peak 0.1 at its inlet: the largest departure from the parabola
    between sponges, by its peak, and the change of the mean density in the last tenth of the time; NaN where it has
    died."""
    shape, peak = (160, 41), 0.1
    y = np.arange(shape[1]) + 0.5
    profile = 4 * peak * y * (shape[1] - y) / shape[1] ** 2
    domain = lbm.Domain(shape, "D2Q9")
    domain.faces["-x"] = INLETS[inlet](np.array([profile, 0 * profile]))
    domain.faces["+x"] = OUTLETS[outlet]()
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    add_sponges(domain, sponge)
    solver = lbm.Solver(domain, collision, precision="float64", device=device)
    parabola = np.zeros((2, *shape))
    parabola[0] = profile
    random = np.random.default_rng(1)
    solver.initialize(velocity=parabola + NOISE * random.uniform(-1, 1, parabola.shape))
    try:
        solver.run(steps - steps // 10)
        mean = solver.density().mean()
        solver.run(steps // 10)
    except lbm.DivergedError:
        return np.nan, np.nan
    ends = 0 if sponge is None else sponge[0]
    away = np.abs(solver.velocity() - parabola)[:, ends : shape[0] - ends]
    return float(away.max() / peak), float(abs(solver.density().mean() - mean))


SPIN, RADIUS = 0.03, 10
DIP = 1.5 * np.e * SPIN**2
"""Of the density, in the middle of the vortex."""


def vortex(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """A vortex whose speed is largest, `SPIN`, at a distance of `RADIUS` from its middle, in a box 80 cells high."""
    dx, dy = x - 60, y - 40
    turn = SPIN * np.exp(0.5 - (dx**2 + dy**2) / 2 / RADIUS**2) / RADIUS
    density = 1 - 1.5 * SPIN**2 * np.exp(1 - (dx**2 + dy**2) / RADIUS**2)
    return density, STREAM - turn * dy, turn * dx


def echo(
    initial: Callable[[Array, Array], tuple[Array, Array, Array]],
    length: int,
    height: int,
    steps: int,
    outlet: str,
    *,
    sponge: tuple[int, float] | None = None,
    pull: float = 0.0,
    longer: tuple[int, int] = (240, 300),
    every: int = 10,
    device: str = "cpu",
) -> float:
    """The largest difference of the density before the sponge from that in a longer box."""
    thickness = 0 if sponge is None else sponge[0]
    solvers = []
    for low, high in ((0, length + thickness), (-longer[0], length + longer[1])):
        x, y = np.meshgrid(np.arange(low, high) + 0.5, np.arange(height) + 0.5, indexing="ij")
        density, *velocity = initial(x, y)
        domain = lbm.Domain(x.shape, stencil="D2Q9")
        domain.faces["-x"] = INLETS["characteristic"]((STREAM, 0.0))
        domain.faces["+x"] = OUTLETS[outlet if low == 0 else "characteristic"]()
        if sponge is not None and low == 0:
            domain.add_sponge("+x", *sponge, pull=pull, velocity=(STREAM, 0.0) if pull else None)
        collision = lbm.RecursiveRegularized(0.002)
        solver = lbm.Solver(domain, collision, precision="float64", device=device)
        solver.initialize(density=density, velocity=np.array(velocity))
        solvers.append(solver)
    short, long = solvers
    largest = 0.0
    for _ in range(steps // every):
        short.step(every)
        long.step(every)
        difference = short.density()[:length] - long.density()[longer[0] : longer[0] + length]
        largest = max(largest, float(abs(difference).max()))
    return largest


def lift(
    length: float,
    inlet: str,
    outlet: str,
    sponge: tuple[int, float] | None,
    *,
    steps: int = 60000,
    device: str = "cpu",
) -> tuple[float, float, float]:
    """Of a square cylinder of side 10 in a channel of height 80 and so many heights long, at a speed of 0.05: the
    amplitude of the lift at periods below 320 steps, of transverse modes, by that at the peak of the shedding, and the
    periods of the shedding and of the mode."""
    side, height = 10, 80
    nx = int(length * height)
    domain = lbm.Domain((nx, height), "D2Q9")
    y = np.arange(height) + 0.5
    profile = 0.05 * 1.5 * 4 * y * (height - y) / height**2
    domain.faces["-x"], domain.faces["+x"] = INLETS[inlet](np.array([profile, 0 * profile])), OUTLETS[outlet]()
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    mask = np.zeros(domain.shape, bool)
    at = nx // 3
    mask[at : at + side, height // 2 - side // 2 : height // 2 + side // 2] = True
    domain.add_body(mask, "square")
    add_sponges(domain, sponge)
    solver = lbm.Solver(domain, lbm.RecursiveRegularized(0.005), precision="float64", device=device)
    start = np.zeros((2, *domain.shape))
    start[0] = profile
    start[1] = 1e-3 * np.sin(2 * np.pi * np.arange(nx) / nx)[:, None]
    solver.initialize(velocity=start)
    forces = []
    try:
        solver.run(steps // 2)
        for _ in range(steps // 20):
            solver.step(10)
            forces.append(solver.body_force("square")[1])
    except lbm.DivergedError:
        return np.nan, np.nan, np.nan
    series = np.array(forces) - np.mean(forces)
    spectrum = np.abs(np.fft.rfft(series * np.hanning(len(series))))
    periods = 10 / np.fft.rfftfreq(len(series))[1:]
    spectrum = spectrum[1:]
    peak = int(np.argmax(np.where(periods > 400, spectrum, 0)))
    modes = np.where((periods < 320) & (periods > 40), spectrum, 0)
    return float(modes.max() / spectrum[peak]), float(periods[peak]), float(periods[int(np.argmax(modes))])


def table_of_noise(device: str) -> None:
    print("\n| stencil, collision | speed | viscosity | inlet, outlet | sponges | after 1 passage | after 10 |")
    print("|---|---|---|---|---|---|---|")
    collisions = (lbm.RecursiveRegularized, lbm.CentralMoments, lbm.Cumulant)
    for stencil, collision, viscosity, speed in itertools.product(SHAPES, collisions, (1e-3, 1e-4), (0.05, 0.1)):
        if collision is lbm.Cumulant and stencil != "D3Q27":
            continue
        for (inlet, outlet), sponge in itertools.product(FACES, (None, (8, 0.3))):
            first, last = noise_left(collision(viscosity), stencil, speed, inlet, outlet, sponge, device=device)
            what = f"{stencil}, {collision.__name__} | {speed} | {viscosity:g} | {inlet}, {outlet} | {sponge}"
            print(f"| {what} | {first:.0e} | {last:.0e} |", flush=True)


def table_of_channels(device: str) -> None:
    print("\n| collision | viscosity | inlet, outlet | sponges | off the parabola | change of the mean density |")
    print("|---|---|---|---|---|---|")
    collisions = (lbm.TRT, lbm.MRT, lbm.RecursiveRegularized, lbm.CentralMoments)
    for collision, viscosity in itertools.product(collisions, (7e-3, 1e-3, 1e-4)):
        for (inlet, outlet), sponge in itertools.product(FACES, (None, (10, 0.3))):
            off, change = channel(collision(viscosity), inlet, outlet, sponge, device=device)
            what = f"{collision.__name__} | {viscosity:g} | {inlet}, {outlet} | {sponge}"
            print(f"| {what} | {100 * off:.2g} % | {change:.0e} |", flush=True)


def table_of_echoes(device: str) -> None:
    print("\n| outlet | sponge, pull | pulse | at 45 degrees |")
    print("|---|---|---|---|")
    for outlet in OUTLETS:
        for sponge, pull in ((None, 0.0), ((40, 0.5), 0.0), ((60, 0.5), 0.0), ((60, 0.5), 0.02), ((100, 0.5), 0.004)):
            back = [
                echo(flow, 160, height, 640, outlet, sponge=sponge, pull=pull, longer=(400, 500), device=device)
                / AMPLITUDE
                for flow, height in ((pulse, 4), (oblique_packet, 57))
            ]
            print(f"| {outlet} | {sponge}, {pull} | {100 * back[0]:.2g} % | {100 * back[1]:.2g} % |", flush=True)


def table_of_vortices(device: str) -> None:
    print("\n| outlet | sponge, pull | of the dip of the pressure |")
    print("|---|---|---|")
    for outlet in OUTLETS:
        for sponge, pull in ((None, 0.0), ((40, 0.5), 0.0), ((60, 0.5), 0.0), ((60, 0.5), 0.02), ((100, 0.5), 0.004)):
            back = echo(vortex, 110, 80, 1100, outlet, sponge=sponge, pull=pull, longer=(300, 600), device=device)
            print(f"| {outlet} | {sponge}, {pull} | {100 * back / DIP:.2g} % |", flush=True)


def table_of_modes(device: str) -> None:
    print("\n| length | inlet, outlet | sponges | lift of the mode, by the peak | periods of shedding | and mode |")
    print("|---|---|---|---|---|---|")
    for length, (inlet, outlet), sponge in itertools.product((2.5, 5.0), FACES, (None, (30, 0.3))):
        ratio, period, mode = lift(length, inlet, outlet, sponge, device=device)
        print(
            f"| {length} H | {inlet}, {outlet} | {sponge} | {100 * ratio:.2g} % | {period:.0f} | {mode:.0f} |",
            flush=True,
        )


TABLES = {
    "noise": table_of_noise,
    "channel": table_of_channels,
    "echo": table_of_echoes,
    "vortex": table_of_vortices,
    "mode": table_of_modes,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", help=f"any of {', '.join(TABLES)}")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    warnings.simplefilter("ignore", lbm.LinearlyUnstableWarning)
    for name in given.tables or TABLES:
        TABLES[name](given.device)


if __name__ == "__main__":
    main()
