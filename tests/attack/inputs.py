"""Wrong inputs: nonsense for every argument and attribute of the package, and right JSON cases made wrong.

Each is taken or refused with a documented error whose message names what is wrong; nothing else is raised, nothing
crashes or hangs, and a call that was refused leaves solvers and domains as they were.
"""

from __future__ import annotations

import faulthandler
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

from ._cases import attack_case
from ._nasty import is_long_count, nasty

NAME = "inputs"
QUICK, LONG = 1000, 120_000
SECONDS = 120
"""That a few hundred attacks may take; after them the process is ended with a traceback."""

DOCUMENTED = (TypeError, ValueError, OSError, AttributeError, lbm.CudaError, lbm.DivergedError)


@dataclass
class Target:
    """Something that takes arguments: a call with right ones, of which some are replaced.

    `names` are what an error may name besides the arguments; `counts` those arguments of which many would take long.
    """

    call: Callable[..., Any]
    right: dict[str, Any]
    names: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    allowed: tuple[type[BaseException], ...] = ()


class World:
    """A domain and solvers that are attacked, and what they hold."""

    def __init__(self) -> None:
        self.domain = lbm.Domain((8, 6), "D2Q9")
        for face in self.domain.faces:
            self.domain.faces[face] = lbm.NoSlip()
        self.mask = np.zeros((8, 6), bool)
        self.mask[3:5, 3] = True
        self.domain.add_body(self.mask, "cube", thermal=lbm.Isothermal(1.0))
        self.domain.thermal["-x"] = lbm.Isothermal(0.5)
        self.heated = lbm.Solver(self.domain, lbm.BGK(0.1), device="cpu", threads=1, thermal=lbm.HybridThermal(0.1))
        self.plain = lbm.Solver(lbm.Domain((5, 4, 3)), lbm.MRT(0.1), device="cpu", threads=1)
        gas = lbm.Domain((8, 6), "D2Q37")
        for face in gas.faces:
            gas.faces[face] = lbm.NoSlip()
        gas.thermal["-x"], gas.thermal["+x"] = lbm.Isothermal(0.72), lbm.Isothermal(0.68)
        self.gas = lbm.Solver(gas, lbm.ThermalBGK(0.1), device="cpu", threads=1)
        self.fresh = lbm.Domain((8, 6), "D2Q9")
        self.units = lbm.Units(length_phys=1e-3, time_phys=1e-4)
        self.layout = lbm.Layout.split((8, 6), (2, 1))
        self.callbacks = (lbm.Every(2, print), lbm.Steady(1e-3), lbm.Checkpoint("attack.h5", 2))

    def state(self) -> str:
        """A digest of all that a refused call must leave as it was."""
        digest = blake2b()
        for solver in (self.heated, self.plain, self.gas):
            digest.update(solver.populations().tobytes())
            digest.update(repr((solver.steps, id(solver.force))).encode())
        digest.update(self.heated.temperature().tobytes())
        for domain in (self.domain, self.fresh, self.heated.domain):
            held = [id(value) for part in (domain.faces, domain.thermal, domain.bodies) for value in part.values()]
            digest.update(repr(held).encode())  # of values that do not change themselves
        digest.update(repr((self.units, self.layout, self.callbacks)).encode())
        return digest.hexdigest()


@dataclass
class Attack:
    """All targets of a world."""

    world: World = field(default_factory=World)

    def __post_init__(self) -> None:
        self.targets = {**_constructors(self.world), **_methods(self.world), **_attributes(self.world)}
        self.names = list(self.targets)


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """See the package; `device` makes no difference."""
    ended: Counter[str] = Counter()
    with _at(folder), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        attack = Attack()
        while ended.total() < count:
            if ended.total() % 250 == 0:
                faulthandler.dump_traceback_later(SECONDS, exit=True)
            seed = int(rng.integers(2**32))
            one = np.random.default_rng(seed)
            try:
                cases = one.random() < 0.2
                how = attack_case(one, folder) if cases else _attack_call(attack, one)
            except AssertionError as error:
                raise AssertionError(f"{error}; repeat it with numpy.random.default_rng({seed})") from error
            ended[f"case {how}" if cases else f"call {how}"] += 1
            if ended.total() % 2000 == 0:
                attack = Attack()  # of right calls some changed it
        faulthandler.cancel_dump_traceback_later()
    return ended


def _attack_call(attack: Attack, rng: np.random.Generator) -> str:
    """Call a target with one to three arguments replaced; how it ended."""
    name = attack.names[rng.integers(len(attack.names))]
    target = attack.targets[name]
    arguments = dict(target.right)
    chosen = rng.choice(list(arguments), min(len(arguments), int(rng.integers(1, 4))), replace=False)
    for key in chosen:
        value = nasty(rng)
        while key in target.counts and is_long_count(value):
            value = nasty(rng)
        arguments[str(key)] = value
    before = attack.world.state()
    refused = _error_of(lambda: target.call(**arguments))
    if refused is None:
        return "taken"
    how = f"{name} with {', '.join(f'{key}={_shown(arguments[str(key)])}' for key in chosen)}"
    if not isinstance(refused, (*DOCUMENTED, *target.allowed)):
        raise AssertionError(f"{how} raised {refused!r}") from refused
    assert attack.world.state() == before, f"{how} was refused and changed something ({refused!r})"
    named = any(word in str(refused) for word in (*arguments, *target.names))
    texts = [value for key in chosen if type(value := arguments[str(key)]) is str]
    named = named or any(text and text in str(refused) for text in texts)  # as errors of a file show its path
    named = named or any(callable(arguments[str(key)]) for key in chosen)  # which may raise what it likes
    plain = isinstance(refused, (AttributeError, OSError, lbm.DivergedError, *target.allowed))
    assert named or plain, f"{how}: {refused!r} names nothing"
    return "refused"


def _error_of(call: Callable[[], Any]) -> Exception | None:
    """What a call raises, None for nothing."""
    try:
        call()
    except Exception as error:
        return error
    return None


def _shown(value: Any) -> str:
    try:
        return f"{type(value).__name__} {value!r}"[:200]
    except Exception:
        return f"a {type(value).__name__}"


def _constructors(world: World) -> dict[str, Target]:
    """What makes something new."""
    domain, mask = world.fresh, world.mask

    def solver(**options: Any) -> None:
        body = lbm.Domain((8, 6), "D2Q9")
        lbm.Solver(body, lbm.BGK(0.1), **options)

    def wall(kind: Callable[[Any], Any], face: str) -> Callable[..., None]:
        def given(value: Any) -> None:
            trial = lbm.Domain((8, 6), "D2Q9")
            for name in trial.faces:
                trial.faces[name] = lbm.NoSlip()
            trial.faces[face] = kind(value)
            lbm.Solver(trial, lbm.BGK(0.1), device="cpu", threads=1)

        return given

    def warm(value: Any) -> None:
        trial = world.domain.copy()
        trial.thermal["+y"] = lbm.Isothermal(value)
        lbm.Solver(trial, lbm.BGK(0.1), device="cpu", threads=1, thermal=lbm.HybridThermal(0.1))

    def body(mask: Any, name: Any, condition: Any, thermal: Any) -> None:
        domain.copy().add_body(mask, name, condition, thermal)

    options = {
        "force": None, "precision": "float32", "storage": None, "streaming": None, "device": "cpu", "layout": None,
        "comm": None, "threads": 1, "thermal": None,
    }  # fmt: skip
    heat = {
        "diffusivity": 0.1, "buoyancy": None, "reference": 0.0, "operators": "isotropic", "energy_coupling": 0.0,
        "source": None,
    }  # fmt: skip
    reynolds = {"reynolds": 10, "length_phys": 1, "viscosity_phys": 1e-6, "velocity_phys": None, "cells": 10,
                "velocity": 0.05, "density_phys": 1.0}  # fmt: skip
    sizes = {"length_phys": 1.0, "time_phys": 1.0, "velocity_phys": None, "viscosity_phys": None, "density_phys": 1.0}
    return {
        "Domain": Target(lbm.Domain, {"shape": (8, 6), "stencil": "D2Q9"}),
        "add_body": Target(
            body,
            {"mask": mask, "name": "b", "condition": None, "thermal": None},
            ("velocity", "temperature", "density"),
        ),
        "BGK": Target(lbm.BGK, {"viscosity": 0.1, "smagorinsky": 0.1}),
        "TRT": Target(lbm.TRT, {"viscosity": 0.1, "magic": 0.1, "smagorinsky": None, "incompressible": True}),
        "MRT": Target(lbm.MRT, {"viscosity": 0.1, "rates": {"e": 1.0}, "smagorinsky": None}),
        "Regularized": Target(lbm.Regularized, {"viscosity": 0.1, "smagorinsky": None}),
        "ThermalBGK": Target(lbm.ThermalBGK, {"viscosity": 0.1, "prandtl": 1.0, "gravity": None}),
        "HybridThermal": Target(lbm.HybridThermal, heat),
        "Convection": Target(
            lbm.Convection, {"rayleigh": 1e4, "prandtl": 0.7, "cells": 10, "velocity": 0.1, "difference": 1.0}
        ),
        "Convection.thermal": Target(
            lbm.Convection(1e4, 0.7, 10).thermal, {"direction": "+y", "reference": 0.0, "source": None}
        ),
        "MovingWall": Target(wall(lbm.MovingWall, "-x"), {"value": (0.0, 0.1)}, ("velocity",)),
        "VelocityInlet": Target(wall(lbm.VelocityInlet, "+y"), {"value": (0.0, 0.1)}, ("velocity",)),
        "PressureOutlet": Target(wall(lbm.PressureOutlet, "+x"), {"value": 1.0}, ("density",)),
        "Isothermal": Target(warm, {"value": 1.0}, ("temperature",)),
        "Solver": Target(solver, options, ("JSON",)),
        "Solver(domain)": Target(lbm.Solver, {"domain": domain, "collision": lbm.BGK(0.1)}),
        "Units": Target(lbm.Units, sizes, ("Units", "duration of a step")),
        "Units.from_reynolds": Target(lbm.Units.from_reynolds, reynolds, ("Units", "duration of a step")),
        "Block": Target(lbm.Block, {"offset": (0, 0), "size": (2, 2), "rank": 0, "device": "cpu"}, ("block",)),
        "Layout": Target(lbm.Layout, {"blocks": [lbm.Block((0, 0), (8, 6))]}, ("layout",)),
        "Layout.split": Target(
            lbm.Layout.split, {"shape": (8, 6), "parts": (2, 1), "device": "cpu", "ranks": 0}, ("block",)
        ),
        "Layout.over": Target(lbm.Layout.over, {"shape": (8, 6), "devices": ["cpu", "cpu"]}, ("block", "parts")),
        "Layout.load": Target(lbm.Layout.load, {"path": "none.json"}, ("layout", "JSON")),
        "Steady": Target(lbm.Steady, {"tolerance": 1e-3, "every": 10, "of": "velocity"}),
        "Every": Target(lbm.Every, {"every": 10, "function": print}),
        "Checkpoint": Target(lbm.Checkpoint, {"path": "a.h5", "every": 10}),
        "diffusivity_limit": Target(lbm.diffusivity_limit, {"operators": "isotropic", "dimensions": 2}),
        "speed_limit": Target(lbm.speed_limit, {"diffusivity": 0.1, "operators": "obrecht2013", "dimensions": 3}),
        "stencil": Target(lbm.stencil, {"name": "D2Q9"}, ("stencil",)),
        "plan": Target(lambda devices: lbm.plan((64, 64), "D2Q9", devices=devices), {"devices": ["none"]}, ("device",)),
        "plan(shape)": Target(
            lambda **given: lbm.plan(devices=["nothing"], **given),
            {
                "shape": (64, 64), "stencil": "D2Q9", "collision": "BGK", "precision": "float32", "storage": None,
                "streaming": None, "periodic": None, "threads": 1, "thermal": False,
            },
            ("device", "layout"),
        ),
    }  # fmt: skip


def _methods(world: World) -> dict[str, Target]:
    """What a solver and a domain are asked, and told to do."""
    heated, plain, gas = world.heated, world.plain, world.gas
    result: dict[str, Target] = {}
    fields = {"density": 1.0, "velocity": (0.0, 0.0), "nonequilibrium": False, "temperature": 1.0}
    for name, solver in (("heated", heated), ("gas", gas)):
        result[f"{name}.initialize"] = Target(solver.initialize, dict(fields))
        for method in ("density", "velocity", "populations", "temperature"):
            result[f"{name}.{method}"] = Target(getattr(solver, method), {"gather": False})

    def report(bandwidth: Any) -> None:
        plain.report(bandwidth=False if isinstance(bandwidth, bool | np.bool_) else bandwidth)  # which takes a second

    run = {"steps": 1, "progress": False, "until": None, "callbacks": ()}
    path = {"path": "a.none/b"}
    result |= {
        "plain.initialize": Target(plain.initialize, fields | {"velocity": (0.0, 0.0, 0.0), "temperature": None}),
        "step": Target(plain.step, {"steps": 1}, counts=("steps",)),
        "run": Target(plain.run, run, counts=("steps",)),
        "save": Target(plain.save, path),
        "load": Target(
            lbm.Solver.load, {**path, "domain": None, "device": "cpu", "layout": None, "comm": None, "threads": 1}
        ),
        "restore": Target(plain.restore, path, ("checkpoint",)),
        "write_vtk": Target(plain.write_vtk, path),
        "device_array": Target(plain.device_array, {"field": "density"}),
        "report": Target(report, {"bandwidth": False}),
        "body_force": Target(heated.body_force, {"name": "cube"}),
        "body_torque": Target(heated.body_torque, {"name": "cube", "center": (0, 0)}),
        "face_force": Target(heated.face_force, {"face": "-x"}),
        "face_torque": Target(heated.face_torque, {"face": "-x", "center": (0, 0)}),
        "heat_flux": Target(heated.heat_flux, {"where": "cube", "by": None}),
        "mean_heat_flux": Target(heated.mean_heat_flux, {"where": "cube", "area": 2.0, "by": None}),
        "nusselt": Target(heated.nusselt, {"where": "-x", "length": 8, "difference": 1.0, "area": None, "by": None}),
        "nusselt_map": Target(heated.nusselt_map, {"where": "-x", "length": 8, "difference": 1.0, "by": None}),
        "gas.heat_flux": Target(gas.heat_flux, {"where": "-x", "by": "gradient"}),
        "gas.nusselt": Target(gas.nusselt, {"where": "-x", "length": 8, "difference": 0.04, "by": "exchange"}),
        "conductivity": Target(lbm.ThermalBGK(0.1).conductivity, {"pressure": 0.7}),
        "faces[]": Target(lambda face, condition: world.fresh.copy().faces.__setitem__(face, condition),
                          {"face": "-x", "condition": lbm.NoSlip()}),
        "thermal[]": Target(lambda face, condition: world.fresh.copy().thermal.__setitem__(face, condition),
                            {"face": "-x", "condition": lbm.Adiabatic()}, ("thermal",)),
        "solver.domain.faces[]": Target(heated.domain.faces.__setitem__, {}, ("faces",)),
        "faces": Target(world.fresh.faces.__getitem__, {}, ("face",)),
    }  # fmt: skip
    result["solver.domain.faces[]"].call = lambda face, condition: heated.domain.faces.__setitem__(face, condition)
    result["solver.domain.faces[]"].right = {"face": "-x", "condition": lbm.NoSlip()}
    result["faces"].call = lambda face: world.fresh.faces[face]
    result["faces"].right = {"face": "-x"}
    for quantity in ("length", "time", "velocity", "viscosity", "density", "acceleration", "force_density", "pressure"):
        for name in (quantity, f"{quantity}_phys"):
            argument = name.removesuffix("_phys") if name.endswith("_phys") else f"{name}_phys"
            result[f"units.{name}"] = Target(getattr(world.units, name), {argument: 1.0}, allowed=(MemoryError,))
    result["units.force"] = Target(world.units.force, {"force_phys": 1.0, "dimensions": 3}, allowed=(MemoryError,))
    result["units.force_phys"] = Target(world.units.force_phys, {"force": 1.0, "dimensions": 2}, allowed=(MemoryError,))
    return result


def _attributes(world: World) -> dict[str, Target]:
    """Everything that has attributes, each assigned."""

    def assign(thing: Any) -> Callable[..., None]:
        names = [name for name in dir(type(thing)) if not name.startswith("_")] + ["forces", "stepz", "x"]
        names = [name for name in names if name not in ("force", "heat_source")]

        def assigned(value: Any) -> None:
            for name in names:
                refused = _error_of(lambda name=name: setattr(thing, name, value))  # type: ignore[misc]
                assert isinstance(refused, AttributeError), f"{type(thing).__name__}.{name}: {refused!r}"
                assert name in str(refused), f"{type(thing).__name__}.{name}: {refused!r} names nothing"

        return assigned

    things = [
        world.plain, world.fresh, world.fresh.faces, world.fresh.bodies, world.fresh.thermal, world.units, world.layout,
        next(iter(world.layout)), lbm.NoSlip(), lbm.MovingWall((0, 0)), lbm.MRT(0.1), lbm.HybridThermal(0.1),
        world.domain.bodies["cube"], *world.callbacks,
    ]  # fmt: skip
    result = {f"attributes of {type(thing).__name__}": Target(assign(thing), {"value": 1}) for thing in things}

    def force(value: Any) -> None:
        world.plain.force = value

    def source(value: Any) -> None:
        world.heated.heat_source = value

    result["force"] = Target(force, {"value": None}, ("force",))
    result["heat_source"] = Target(source, {"value": None}, ("source",))
    return result


@contextmanager
def _at(folder: Path) -> Iterator[None]:
    """The working folder for a while, as some nonsense is the name of a file."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
