"""Builds the domain, the collision and the solver of a checked case."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks, conditions, models, multispeed, values
from ..collision_table import COLLISIONS, case_parameters, check_pair
from ..collisions import Collision
from ..domain import Domain
from ..engine.kept_state import streaming_of
from ..engine.memory import check_memory, extra_bytes_per_cell
from ..engine.settings import check_devices, check_storage, check_streaming, check_thermal
from ..flows import Parabolic
from ..geometry.rotation import Rotation
from ..layout import Layout, check_layout
from ..parallel.consistency import compare
from ..parallel.processes import Processes
from ..planning.default_cut import cut_for
from ..solver import Solver
from ..solver.steady import Steady
from ..thermal import Convection, HybridThermal
from ..turbulence import GradientModel, TurbulenceModel, combined, of_record
from ..values import centres
from . import centreline, convection, initial as initial_state, record, recorders
from .bodies import body_cells, body_motion
from .input_errors import Problems, at

_PARAMETERS = {name: case_parameters(collision) for name, collision in COLLISIONS.items()}
_OWNERS = {
    key: [name for name, known in _PARAMETERS.items() if key in known] for keys in _PARAMETERS.values() for key in keys
}
"""Of each key that a collision has of its own, the collisions that have it."""

NO_THERMAL = "{}given, but the case has no temperature; 'thermal' gives it one"
"""A message, after the argument's name."""


def build_solver(
    case: dict[str, Any],
    folder: Path,
    threads: int | None = None,
    device: str | list[str] | None = None,
    comm: Any = None,
    layout: str | os.PathLike[str] | None = None,
) -> Solver:
    """The solver of `case` in its initial state; files that the case names are relative to `folder`.

    Args:
        case: checked by `read_case`.
        folder: of the case.
        threads, device, comm: as for `Solver`, the first two in place of the case's own.
        layout: the path of a layout or ``"auto"``, in place of the case's own, and of its devices if they are in it.

    Raises:
        CaseError: values that do not go together, each with its path; all that do not depend on each other at once.
        ValueError, OSError: an unknown `device` or a wrong `layout`, given in place of the case's own.
        CudaError: a GPU is asked for and cannot be used.
    """
    chosen: tuple[str, ...] = ("cpu",)
    missing, blocks, processes = None, None, Processes.of(comm)
    shape = tuple(int(n) for n in case["domain"]["shape"])
    given = ("precision", "storage", "streaming", "state", "force")
    options: dict[str, Any] = {key: case[key] for key in given if key in case}
    state = "moments" if case.get("state") == "moments" else "populations"  # also where the solver chooses
    initial = dict(case.get("initial", {}))
    problems = Problems(case)
    flow = convection.ANY if convection.is_meant(case) else None  # where its numbers are wrong, that is told alone
    precision = storage = options.get("precision", "float32")
    with problems.at():
        storage = check_storage(options.get("storage"), precision)
    own = case["run"].get("device", "auto")
    planned = (case["run"].get("layout") if layout is None else layout) == "auto"
    if layout is not None and not planned:
        blocks, own = processes.each(lambda: check_layout(layout, shape)), "auto"
    with problems.at("run", "layout"):
        if layout is None and not planned and "layout" in case["run"]:
            blocks = processes.each(lambda: _layout(folder / case["run"]["layout"], shape))
    stencil = case["domain"]["stencil"]
    streaming = streaming_of(state, options.get("streaming"), stencil)
    cut = cut_for(stencil, storage, streaming, "thermal" in case, state)
    try:
        if device is not None:
            blocks, chosen = check_devices(device, blocks, shape, processes, cut)
        else:
            with problems.at("run"):
                blocks, chosen = check_devices(own, blocks, shape, processes, cut)
    except _core.CudaError as error:  # what is wrong in the case comes first
        missing = error
    with problems.at("domain"):  # before any mask of the domain's size is made
        domain = empty_domain(case)
        extra_bytes = extra_bytes_per_cell(len(domain.shape), precision, bodies=bool(case.get("bodies")))
        streaming = check_streaming(streaming, domain.stencil)
        with problems.at():
            models.check_numbers(domain.stencil, precision, storage, streaming)
        storage, streaming = models.of(domain.stencil).nearest(precision, storage, streaming)  # for all that follows
        with problems.at("thermal"):
            flow = convection.of_case(case)
            options["thermal"] = build_thermal(case, domain, storage)
        with problems.at("turbulence"):
            options["turbulence"] = build_turbulence(case)
        has_temperature = options.get("thermal") is not None
        several = len(chosen) > 1 or processes.size > 1
        keeps = isinstance(options.get("turbulence"), GradientModel)
        adds = (has_temperature, keeps, is_hybrid(case))
        # What does not go with moments is named by the solver, all at once; it is not for the check of their memory.
        moments_fit = storage == precision and not (_has_temperature(case) or any(adds))
        is_looked_at = not (planned and several)  # a plan's blocks are looked at when they are known
        if missing is None and is_looked_at and (state == "populations" or moments_fit):
            numbers = (precision, storage, streaming)
            where = (chosen[0], blocks, processes)
            check_memory(domain.stencil, shape, *numbers, extra_bytes, *where, *adds, state=state)
        fill_domain(domain, case, folder, problems, processes, options.get("thermal"))
        _set_initial(initial, case, folder, domain, options.get("thermal"), problems, processes)
    with problems.at("collision"):
        collision = build_collision(case["collision"], flow)
        collision.check(_core.stencil(case["domain"]["stencil"]))
        with problems.at("turbulence"):
            combined(collision, options.get("turbulence"))
    with problems.at():
        check_pair(case["domain"]["stencil"], COLLISIONS[case["collision"]["model"]])
    _check_output(case, problems)
    problems.end()
    if missing is not None:
        raise missing
    with at(case):
        threads = threads or case["run"].get("threads")
        if planned:
            options |= {"device": own if device is None else device, "layout": "auto"}
        else:  # blocks name their devices
            options |= {"device": chosen[0] if blocks is None else "auto", "layout": blocks}
        share = case["run"].get("cpu_share")
        if blocks is not None and any(block.device == "cpu" for block in blocks):  # a plan has given them theirs
            share = None
        compare(processes, {"bodies": json.dumps(case.get("bodies", []), sort_keys=True)})  # functions are not compared
        solver = Solver(domain, collision, comm=processes, threads=threads, cpu_share=share, **options)
    with at(case, "initial"):
        solver.initialize(**initial)
    return solver


def _layout(path: Path, shape: tuple[int, ...]) -> Layout | None:
    try:
        return check_layout(path, shape)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({checks.reason(error)})") from error


def empty_domain(case: dict[str, Any]) -> Domain:
    """The domain of `case`, periodic and without bodies."""
    return Domain([int(n) for n in case["domain"]["shape"]], case["domain"]["stencil"])


def build_thermal(case: dict[str, Any], domain: Domain, storage: str) -> HybridThermal | None:
    """The model of a temperature beside the flow of a case, None for none."""
    if "thermal" not in case:
        return None
    if models.of(domain.stencil).carries_temperature:
        for key in case["thermal"]:
            if key != "faces":
                right = "must be left out: its populations carry the temperature, and 'thermal' has 'faces' only"
                raise ValueError(f"{key}: given with {domain.stencil}, {right}")
        return None
    found = convection.coefficients(case)
    try:
        thermal = HybridThermal(**found)
        check_thermal(thermal, domain, storage)
    except ValueError as error:
        if not convection.is_meant(case) or not str(error).startswith("diffusivity: "):
            raise
        right = "give a smaller 'velocity' or a larger 'rayleigh', which it follows from"
        raise ValueError(f"{error}; {right}") from error
    return thermal


def is_hybrid(case: dict[str, Any]) -> bool:
    """Whether the collision of a case takes finite differences of the velocity."""
    return case["collision"].get("hybrid", 1) not in (None, 1)


def build_turbulence(case: dict[str, Any]) -> TurbulenceModel | None:
    """The turbulence model of a case, None for none."""
    return of_record(case["turbulence"]) if "turbulence" in case else None


def fill_domain(
    domain: Domain,
    case: dict[str, Any],
    folder: Path,
    problems: Problems,
    processes: Processes,
    thermal: HybridThermal | None = None,
) -> None:
    """Set the faces and add the sponges and bodies of `case`, those that are right; the others are left to `problems`.

    Velocities are held below the limit of `thermal` too. Bodies that overlap are found by the solver.
    """
    shape, cs2 = domain.shape, _core.stencil(domain.stencil).cs2
    for face, entry in case.get("faces", {}).items():
        with problems.at("faces", face):
            _check_face(face, domain)
            condition = _condition(entry, shape)
            velocity = getattr(condition, "velocity", None)
            if velocity is not None:  # vectors are checked by the assignment too, profiles would be by the solver
                found = values.on_face("velocity", velocity, shape, face, len(shape), time=0.0)
                checks.speed("velocity", found, cs2)
                if thermal is not None:
                    thermal.check_speed("velocity", found)
            domain.faces[face] = condition
    for index, entry in enumerate(case.get("sponges", [])):
        with problems.at("sponges", index):
            _check_face(entry["face"], domain)
            domain.add_sponge(**entry | {"thickness": int(entry["thickness"])})
    for face, entry in case.get("thermal", {}).get("faces", {}).items():
        with problems.at("thermal", "faces", face):
            _check_face(face, domain)
            flow = case.get("faces", {}).get(face, {"condition": "periodic"})
            if entry["condition"] == "isothermal" and flow["condition"] == "periodic":
                opposite = ("+" if face[0] == "-" else "-") + face[1]
                other = case.get("faces", {}).get(opposite, flow)["condition"]
                right = "must be one of a wall, inlet or outlet"
                if other != "periodic":
                    right = f"give it a condition in 'faces' too, as {opposite} has, {other!r}"
                raise ValueError(f"'isothermal' given on a face that is periodic; {right}")
            if entry["condition"] == "isothermal":
                _check_temperature(entry["temperature"], domain)
            domain.thermal[face] = _condition(entry, shape)
    for index, entry in enumerate(case.get("bodies", [])):
        with problems.at("bodies", index):
            condition = _body_condition(entry.get("condition", {"condition": "no-slip"}), shape)
            if (
                thermal is not None
                and isinstance(condition, conditions.MovingWall)
                and not isinstance(condition.velocity, Rotation)
            ):
                # its shape comes first, as the limit takes the number of components for that of dimensions
                velocity = values.evaluate("velocity", condition.velocity, shape, (), len(shape))  # a vector
                thermal.check_speed("velocity", velocity)
            if "thermal" in entry and "thermal" not in case:
                raise ValueError(NO_THERMAL.format("thermal: "))
            heat = _condition(entry.get("thermal", {"condition": "adiabatic"}), shape)
            cells = body_cells(entry, shape, folder, processes)
            name, motion = entry.get("name", f"body {index + 1}"), None
            if "motion" in entry:
                with problems.at("bodies", index, "motion", *entry["motion"]):
                    motion = body_motion(entry["motion"], name, len(shape), folder)
            domain.add_body(cells, name, condition, heat, motion=motion)


def _has_temperature(case: dict[str, Any]) -> bool:
    """Whether there is a temperature, beside the flow or in its populations."""
    return "thermal" in case or models.of(case["domain"]["stencil"]).carries_temperature


def _check_temperature(temperature: Any, domain: Domain) -> None:
    """Raise ValueError for a temperature, a number, that is out of range, or not above 0 where it must be."""
    array = checks.real_array("temperature", temperature)
    checks.temperatures("temperature", array)
    multispeed.check_temperatures(domain.stencil, "temperature", array)


def _check_face(face: str, domain: Domain) -> None:
    if face not in list(domain.faces):
        dimensions = len(domain.shape)
        raise ValueError(f"unknown face in {dimensions} dimensions, must be one of {', '.join(domain.faces)}")


def _set_initial(
    initial: dict[str, Any],
    case: dict[str, Any],
    folder: Path,
    domain: Domain,
    thermal: HybridThermal | None,
    problems: Problems,
    processes: Processes,
) -> None:
    """Make the arguments of `Solver.initialize` of what a case says of them; numbers and profiles are checked here,
    the others by the solver."""
    with problems.at("initial"):
        file = initial.pop("file", None)
        if file is not None:
            for name, array in initial_state.read_fields(folder / file, processes).items():
                if name != "temperature" or _has_temperature(case):
                    initial.setdefault(name, array)
    with problems.at("initial"):
        if "temperature" in initial and not _has_temperature(case):
            raise ValueError(NO_THERMAL.format("temperature: "))
    for name in ("density", "velocity", "temperature"):
        entry: Any = initial.get(name)
        with problems.at("initial", *initial_state.place_of(name, entry)):
            if initial_state.is_named(entry):
                initial[name] = initial_state.initial_value(name, entry, domain.shape, folder, processes)
            elif name == "temperature" and isinstance(entry, int | float):
                _check_temperature(entry, domain)
            elif name == "velocity" and isinstance(entry, list | dict):
                initial[name] = _initial_velocity(entry, domain, thermal)


def _initial_velocity(entry: Any, domain: Domain, thermal: HybridThermal | None) -> Any:
    """The initial velocity, checked before there is a solver that would check it."""
    velocity = velocity_value(entry, domain.shape)
    value = conditions.field_value("velocity", velocity, vector=True)
    places = _profile_centres(entry, domain.shape)
    field = values.evaluate("velocity", value, domain.shape, places, len(domain.shape))
    checks.speed("velocity", field, multispeed.mach_unit(_core.stencil(domain.stencil)))
    if thermal is not None:
        thermal.check_speed("velocity", field)
    return velocity


def _check_output(case: dict[str, Any], problems: Problems) -> None:
    """What the output asks of the rest of the case."""
    output, has_temperature = recorders.plain(case), _has_temperature(case)
    record.check(case, problems)
    with problems.at("run", "steady"):
        _check_steady(case)
    if not has_temperature and output.get("image", {}).get("field") == "temperature":
        with problems.at(*recorders.place_of(case, "image")):
            raise ValueError(NO_THERMAL.format("field: 'temperature' "))
    if "heat" in output:
        with problems.at(*recorders.place_of(case, "heat")):
            _check_heat("asked for", case)
    if "centrelines" in output:
        with problems.at(*recorders.place_of(case, "centrelines")):
            centreline.check_shape(output["centrelines"]["reference"], tuple(int(n) for n in case["domain"]["shape"]))
    if "forces" in output and not case.get("bodies"):
        with problems.at(*recorders.place_of(case, "forces")):
            raise ValueError("forces of bodies asked for, but the case has no bodies")


def build_steady(case: dict[str, Any]) -> Steady | None:
    """What ends the run of a case before its last step; None for nothing."""
    if "steady" not in case["run"]:
        return None
    entry = dict(case["run"]["steady"])
    return Steady(**entry | {key: int(entry[key]) for key in ("every", "window") if key in entry})


def _check_steady(case: dict[str, Any]) -> None:
    """Raise ValueError where the case has not what it is to be steady of."""
    until = build_steady(case)
    if until is None:
        return
    if until.of == "temperature" and not _has_temperature(case):
        raise ValueError(NO_THERMAL.format("of: 'temperature' "))
    if until.of == "nusselt":
        _check_heat("of: 'nusselt' given", case)
        given = [
            *case.get("thermal", {}).get("faces", {}).values(),
            *(body.get("thermal", {}) for body in case.get("bodies", [])),
        ]
        if not any(entry.get("condition") == "isothermal" for entry in given):
            raise ValueError("of: 'nusselt' given, but no face and no body of the case is isothermal")
    bodies, faces = record.bodies_and_faces(case)
    until.check_forced(bodies, case["domain"]["stencil"], faces, "of: ")


def _check_heat(asked: str, case: dict[str, Any]) -> None:
    """Raise ValueError for what is `asked` where a case has no temperature."""
    if not _has_temperature(case):
        raise ValueError(f"{asked}, but the case has no temperature; 'thermal' gives it one")


def build_collision(entry: dict[str, Any], flow_of: Convection | None = None) -> Collision:
    """The collision of a case, its viscosity given, or from the Reynolds number or the numbers of a convection."""
    entry = dict(entry)
    model = entry.pop("model")
    flow = [key for key in ("reynolds", "length", "velocity") if key in entry]
    if flow_of is not None:
        if flow or "viscosity" in entry:
            first = "viscosity" if "viscosity" in entry else flow[0]
            raise ValueError(f"{first}: given with 'rayleigh' of 'thermal', must be left out, as it follows from that")
        entry["viscosity"] = flow_of.viscosity
    elif ("viscosity" in entry) == bool(flow):
        raise ValueError("must have either 'viscosity' or 'reynolds', 'length' and 'velocity'")
    if flow:
        if len(flow) < 3:
            raise ValueError(f"has {', '.join(map(repr, flow))} only, must have 'reynolds', 'length' and 'velocity'")
        entry["viscosity"] = entry.pop("velocity") * entry.pop("length") / entry.pop("reynolds")
    for key, owners in _OWNERS.items():
        if key in entry and model not in owners:
            raise ValueError(f"{key!r} given, which {model} does not have, only {', '.join(owners)}")
    return COLLISIONS[model](**entry)


def velocity_value(entry: Any, shape: tuple[int, ...]) -> Any:
    """A vector as it is, a profile as a callable of coordinates."""
    if isinstance(entry, list):
        return entry
    axes = "xyz"[: len(shape)]
    for axis in [entry["direction"], *entry["across"]]:
        if axis not in axes:
            raise ValueError(f"velocity: axis {axis!r} given, must be one of {', '.join(axes)}")
    if entry["direction"] in entry["across"]:
        raise ValueError(f"velocity: the profile is across its own direction, {entry['direction']!r}")
    return Parabolic(shape, entry["max"], entry["direction"], entry["across"])


def _condition(entry: dict[str, Any], shape: tuple[int, ...]) -> conditions.Condition:
    arguments = {key: value for key, value in entry.items() if key != "condition"}
    if "velocity" in arguments:
        arguments["velocity"] = velocity_value(arguments["velocity"], shape)
    return conditions.BY_KIND[entry["condition"]](**arguments)


def _body_condition(entry: dict[str, Any], shape: tuple[int, ...]) -> conditions.Condition:
    """The same of a body, which may turn."""
    velocity = entry.get("velocity")
    if not isinstance(velocity, dict):
        return _condition(entry, shape)
    turning = Rotation(**velocity)
    if len(turning.about) != len(shape):
        raise ValueError(f"about: {velocity['about']} given, must have {len(shape)} coordinates")
    return conditions.MovingWall(turning, scheme=entry.get("scheme"))


def _profile_centres(entry: Any, shape: tuple[int, ...]) -> tuple[NDArray[np.float64], ...]:
    """The coordinates of cells that have all values of a velocity: it is the same along axes that it is not across."""
    across = entry["across"] if isinstance(entry, dict) else []
    return centres([np.arange(n if axis in across else 1) + 0.5 for axis, n in zip("xyz", shape, strict=False)])
