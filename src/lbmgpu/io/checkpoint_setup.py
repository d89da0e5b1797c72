"""The setup of a solver as a checkpoint holds it: described as JSON and arrays, compared, made into values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks, conditions, values
from ..collision_table import BY_KIND
from ..collisions import Collision
from ..custom_collision import CUSTOM
from ..domain import Domain
from ..engine import settings
from ..engine.body_cells import BodyCells
from ..engine.body_links import in_blocks
from ..engine.boundary import BoundaryValues
from ..engine.kept_state import check_moments
from ..engine.simulation import Simulation
from ..engine.time_factors import MAX_FORCE
from ..errors import CheckpointError
from ..geometry.base import LINK_PARTS, Links
from ..geometry.rotation import Rotation
from ..parallel.processes import Processes
from ..parallel.subdomain import Subdomain
from ..thermal import OLD_OPERATORS, HybridThermal
from ..time_functions.functions import from_record
from ..time_functions.product import Varying, takes_time
from ..turbulence import combined, of_record
from .checkpoint_arrays import LINKS, Arrays, Box

CHANGES = {"changes in time": True}
"""Marks in the file a value that a callable gives before each step, or where the surface of a body cuts links."""

OF_FLUID = ("viscosity", "smagorinsky", "incompressible")
"""The parameters of a collision that the flow depends on, whatever else relaxes."""


def _links_of(simulation: Simulation, name: str) -> tuple[Links | None, bool]:
    """The links of a body that this process keeps, None where no process has any; and whether some are between fluid
    cells, whose values are those of cells that are not the body's own. All processes ask together.
    """
    found = simulation.boundary.links(name)
    links = None if found is None else in_blocks(found.links, simulation.subdomain)
    numbers = [0, 0] if found is None or links is None else [len(links.q), len(found.at_sheets)]
    count, sheets = np.array(simulation.processes.shared(numbers)).sum(axis=0)
    return links if count else None, bool(sheets)


def describe(simulation: Simulation) -> tuple[dict[str, Any], Arrays]:
    """The setup as JSON with exact numbers, and the arrays that it refers to by name.

    Those that `checkpoint_arrays.is_of_cells` names, of several processes, are of the window of this one.
    """
    arrays: Arrays = {}
    window = simulation.subdomain.inside(simulation.subdomain.window)

    def keep(name: str, value: Any, current: NDArray[np.float64], dimensions: int = 1) -> Any:
        """The value as JSON if it is uniform, of as many `dimensions` at most; else where it is."""
        if isinstance(value, Varying):
            spatial = value.spatial if isinstance(value.spatial, Rotation) else None
            return {"factor": value.function.record(), "value": keep(name, spatial, current, dimensions)}
        if isinstance(value, Rotation):
            return {"rotation": value.record()}
        if takes_time(value):
            return CHANGES
        if current.ndim <= dimensions:
            return current.tolist()
        arrays[name] = current
        return {"array": name}

    domain, boundary = simulation.domain, simulation.boundary
    setup: dict[str, Any] = {
        "stencil": domain.stencil,
        "shape": list(domain.shape),
        "precision": simulation.precision,
        "storage": simulation.storage,
        "collision": simulation.collision.record(simulation.stencil),
        "faces": {},
        "bodies": {},
        "force": None,
    }
    if simulation.settings.state != "populations":  # which files had before there was anything else
        setup["state"] = simulation.settings.state
    if (force := simulation.given_force) is not None:
        setup["force"] = keep("force", force, np.asarray(force.spatial if isinstance(force, Varying) else force))
    for face, condition in domain.faces.items():
        entry = setup["faces"][face] = _kind(condition)
        if hasattr(condition, "velocity"):
            entry["velocity"] = keep(
                f"faces.{face}.velocity", condition.velocity, boundary.fixed(boundary.face_velocities, face)
            )
        if name := condition.number:
            entry[name] = keep(
                f"faces.{face}.{name}", getattr(condition, name), boundary.fixed(boundary.face_numbers, face)
            )
    if domain.sponges:
        setup["sponges"] = [sponge.record() for sponge in domain.sponges]
    for index, (name, body) in enumerate(domain.bodies.items()):
        if body.motion is not None:
            assert body.geometry is not None
            given = {"geometry": body.geometry.fingerprint(), "motion": body.motion.record()}
            setup["bodies"][name] = _kind(body.condition) | given
            continue
        arrays[f"bodies.{index}.mask"] = simulation.bodies.mask(name)[window]
        entry = setup["bodies"][name] = _kind(body.condition) | {"mask": {"array": f"bodies.{index}.mask"}}
        entry.pop("scheme", None)
        links, has_sheets = _links_of(simulation, name)
        if links is not None:
            entry["scheme"] = body.scheme
            arrays |= {f"{LINKS}{index}.{part}": array for part, array in zip(LINK_PARTS, links, strict=True)}
            entry["links"] = {part: {"array": f"{LINKS}{index}.{part}"} for part in LINK_PARTS}
        if isinstance(body.condition, conditions.MovingWall):
            current = boundary.fixed(boundary.body_velocities, name)
            current = current if current.ndim == 1 else current[(..., *window)]
            velocity = body.condition.velocity
            spatial = velocity.spatial if isinstance(velocity, Varying) else velocity
            is_lost = name in boundary.link_velocities  # of what is on the surface, or none of its cells
            is_lost = is_lost or (current.ndim > 1 and has_sheets)
            is_lost = is_lost and not isinstance(spatial, Rotation)
            entry["velocity"] = CHANGES if is_lost else keep(f"bodies.{index}.velocity", velocity, current)
        if isinstance(body.thermal, conditions.Isothermal):
            current = boundary.fixed(boundary.body_temperatures, name)
            current = current if current.ndim == 0 else current[window]
            is_lost = name in boundary.link_temperatures  # of what is on the surface, or none of its cells
            is_lost = is_lost or (current.ndim > 0 and has_sheets)
            given = body.thermal.temperature
            temperature = CHANGES if is_lost else keep(f"bodies.{index}.temperature", given, current, 0)
            entry["thermal"] = {"condition": body.thermal.kind, "temperature": temperature}
        if simulation.thermal is not None and body.thermal_scheme in conditions.CUT_TEMPERATURES:
            entry.setdefault("thermal", {"condition": body.thermal.kind})["scheme"] = body.thermal_scheme
    if simulation.thermal is not None:
        source = simulation.heat_source
        setup["thermal"] = simulation.thermal.parameters(simulation.stencil)
        setup["thermal"]["source"] = None if source is None else keep("source", None, source, 0)
    if simulation.settings.turbulence is not None:
        setup["turbulence"] = simulation.settings.turbulence.record()
    if simulation.has_temperature:
        setup.setdefault("thermal", {})["faces"] = {
            face: {
                "condition": condition.kind,
                "temperature": keep(
                    f"thermal.{face}", condition.temperature, boundary.fixed(boundary.face_temperatures, face), 0
                ),
            }
            for face, condition in domain.thermal.items()
            if isinstance(condition, conditions.Isothermal)
        }
    return setup, arrays


def links_of_process(arrays: Arrays, subdomain: Subdomain) -> Arrays:
    """Arrays of a file with those links only whose cells this process computes."""
    found = dict(arrays)
    for name in [name for name in arrays if name.startswith(LINKS) and name.endswith(LINK_PARTS[0])]:
        names = [name.removesuffix(LINK_PARTS[0]) + part for part in LINK_PARTS]
        parts = in_blocks(Links(*(arrays[each] for each in names)), subdomain)
        found |= dict(zip(names, parts, strict=True))
    return found


def gather_links(arrays: Arrays, processes: Processes) -> None:
    """Bring the links of all processes together on rank 0; all of them call this together."""
    names = [name for name in arrays if name.startswith(LINKS)]
    if processes.engine is None or not names:
        return
    counts = processes.shared([len(arrays[name]) for name in names])
    for name, of_ranks in zip(names, zip(*counts, strict=True), strict=True):
        own, own_rank = np.ascontiguousarray(arrays[name]), processes.rank
        parts = {rank: np.empty((n, *own.shape[1:]), own.dtype) for rank, n in enumerate(of_ranks) if rank and n}
        first = own_rank == 0
        receives = [(part, rank, 0) for rank, part in parts.items()] if first else []
        exchange = processes.engine.exchange(receives, [(own, 0, 0)] if own_rank in parts else [])
        exchange.start_receives()
        exchange.start_sends()
        exchange.finish()
        arrays[name] = np.concatenate([own, *parts.values()]) if first else own


def _kind(condition: conditions.Condition) -> dict[str, Any]:
    """What a file has of a condition beside its values: no scheme is the default one."""
    scheme = conditions.chosen_scheme(condition)
    scheme = None if scheme == conditions.WALL_SCHEMES[0] else scheme
    return {"condition": condition.kind} | ({} if scheme is None else {"scheme": scheme})


def with_new_words(setup: dict[str, Any]) -> dict[str, Any]:
    """A setup of a file with the words of this version in place of those of earlier ones."""
    thermal = setup.get("thermal")
    if isinstance(thermal, dict) and thermal.get("operators") in list(OLD_OPERATORS):
        return setup | {"thermal": thermal | {"operators": OLD_OPERATORS[thermal["operators"]]}}
    return setup


def state_of(setup: dict[str, Any]) -> str:
    """What a cell has in the state of a setup, as `Solver` names it."""
    return str(setup.get("state", "populations"))


def for_state_of(stored: dict[str, Any], own: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The setups of a file and of a solver that are compared: those that keep something else may differ in that.

    Of populations any collision of the same fluid may be gone on from with moments, as all that is kept of them are
    moments. What makes a fluid is then compared alone.
    """
    kept, keeps = state_of(stored), state_of(own)
    if kept == keeps:
        return stored, own
    pair = [{key: value for key, value in setup.items() if key != "state"} for setup in (stored, own)]
    if keeps == "moments":
        for setup in pair:
            setup["collision"] = {key: setup["collision"].get(key) for key in OF_FLUID}
    return pair[0], pair[1]


def array_names(setup: dict[str, Any]) -> list[str]:
    """The names of the arrays that a setup refers to, each once."""
    found: dict[str, None] = {}

    def look(entry: Any) -> None:
        if _is_array(entry):
            found[entry["array"]] = None
        elif isinstance(entry, dict):
            for part in entry.values():
                look(part)

    look(setup)
    return list(found)


def differences(
    stored: Any, own: Any, stored_arrays: Arrays, arrays: Arrays, key: str = "", precision: str = "float64"
) -> Iterator[str]:
    """A line for each key in which two setups differ. Forces and heat sources count as rounded to the `precision` in
    which blocks keep them, and GPUs give them back."""
    if isinstance(stored, dict) and isinstance(own, dict):
        if _is_array(stored) and _is_array(own):
            digits = np.dtype(precision if key in ("force", "thermal.source") else "float64")
            one, other = stored_arrays[stored["array"]], arrays[own["array"]]
            if not np.array_equal(one, other) and not np.array_equal(_rounded(one, digits), _rounded(other, digits)):
                yield f"{key}: the arrays differ"
            return
        if not _is_array(stored) and not _is_array(own):
            for name in [*stored, *(n for n in own if n not in stored)]:
                path = f"{key}.{name}" if key else name
                yield from differences(stored.get(name), own.get(name), stored_arrays, arrays, path, precision)
            return
    if stored != own and all(isinstance(value, str) and "\n" in value for value in (stored, own)):
        lines = enumerate(zip_longest(stored.split("\n"), own.split("\n"), fillvalue=""), 1)
        number, (theirs, ours) = next((n, pair) for n, pair in lines if pair[0] != pair[1])
        where = f"first in line {number}: {checks.shown(theirs)} in the file, {checks.shown(ours)} here"
        yield f"{key}: the texts differ, {where}"
    elif stored != own:
        yield f"{key}: the file has {_shown(stored)}, this solver has {_shown(own)}"


def _rounded(array: NDArray[Any], digits: np.dtype[Any]) -> NDArray[Any]:
    return array.astype(digits) if array.dtype == np.float64 else array


def _is_array(entry: Any) -> bool:
    """Whether an entry of a setup names an array; bodies may be called anything, "array" too."""
    return isinstance(entry, dict) and set(entry) == {"array"} and isinstance(entry["array"], str)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        changes = value == CHANGES or "factor" in value
        if "rotation" in value:
            return "a rotation"
        return "an array" if "array" in value else "a function of time" if changes else checks.shown(value)
    return checks.shown(value)


def without_cells(setup: dict[str, Any]) -> dict[str, Any]:
    """A setup without bodies, force and heat source."""
    thermal = dict(setup.get("thermal") or {})
    more = {"thermal": thermal | ({"source": None} if "source" in thermal else {})} if thermal else {}
    return setup | {"bodies": {}, "force": None} | more


def arguments_of(
    setup: dict[str, Any],
    arrays: Arrays,
    streaming: str,
    domain: Domain | None,
    collision: Collision | None,
    part: Box | None = None,
) -> dict[str, Any]:
    """The arguments of `Solver` that a file holds, checked but for the values on faces and bodies.

    Args:
        setup: of the file.
        arrays: those that it refers to.
        streaming: of the file.
        domain, collision: given in place of those in the file.
        part: offset and size of the box that the arrays of cells cover; None for the domain.

    Raises:
        CheckpointError: a condition changes in time and no domain is given, or the collision is one that its user
            wrote and is not given.
        KeyError, TypeError, ValueError and others: the setup is not one.
    """
    value = _lookup(arrays)
    is_of_file = domain is None and collision is None
    collision = _collision(setup) if collision is None else collision
    thermal = _thermal(setup, value)
    force = value(setup["force"])
    turbulence = None if setup.get("turbulence") is None else of_record(setup["turbulence"])
    numbers = (setup["precision"], setup["storage"], streaming)
    if domain is None:
        domain = _domain(setup, value, part)
        settings.check_values(domain, collision, force, *numbers, thermal)
        settings.check_periodic(domain)
        _check_fields(domain.shape if part is None else tuple(part[1]), force, thermal)
    if is_of_file and state_of(setup) == "moments":
        with_constant, of_gradients = combined(collision, turbulence)
        check_moments(domain, with_constant, *numbers[:2], thermal, of_gradients)
    return {
        "domain": domain,
        "collision": collision,
        "force": force,
        "precision": setup["precision"],
        "storage": setup["storage"],
        "streaming": streaming,
        "thermal": thermal,
        "turbulence": turbulence,
        "state": state_of(setup),
    }


def check_boundary(domain: Domain, thermal: HybridThermal | None, subdomain: Subdomain, processes: Processes) -> None:
    """Raise TypeError or ValueError where a value does not suit its face or body; all processes call this together."""
    cells = BodyCells(domain, subdomain, processes)
    processes.each(lambda: BoundaryValues(domain, thermal, subdomain=subdomain, cells=cells))


def _check_fields(shape: tuple[int, ...], force: Any, thermal: HybridThermal | None) -> None:
    """Raise TypeError or ValueError where a force or a heat source does not suit a box of this shape."""
    if force is not None:
        value = conditions.timed_value("force", force, vector=True)
        if np.abs(values.evaluate("force", value, shape, (), len(shape))).max() > MAX_FORCE:
            raise ValueError(f"force: more than {MAX_FORCE:g} given")
    if thermal is not None and thermal.source is not None:
        values.evaluate("source", thermal.source, shape, (), None)


def _lookup(arrays: Arrays) -> Callable[[Any], Any]:
    def value(entry: Any) -> Any:
        if isinstance(entry, dict) and "factor" in entry:
            return Varying(value(entry["value"]), from_record(entry["factor"]))
        if isinstance(entry, dict) and "rotation" in entry:
            return Rotation(**entry["rotation"])
        return arrays[entry["array"]] if isinstance(entry, dict) else entry

    return value


def _collision(setup: dict[str, Any]) -> Collision:
    parameters = dict(setup["collision"])
    if parameters["model"] == CUSTOM:
        raise CheckpointError(
            f"the collision is the CustomCollision {checks.shown(parameters['name'])}, and the text in a file is never "
            "compiled; give it again: Solver.load(path, collision=...)"
        )
    collision = BY_KIND[parameters.pop("model")](**parameters)
    collision.check(_core.stencil(setup["stencil"]))
    return collision


def _thermal(setup: dict[str, Any], value: Callable[[Any], Any]) -> HybridThermal | None:
    entry = dict(setup.get("thermal") or {})
    entry.pop("faces", None)
    if not entry:  # of D2Q37 there are faces only
        return None
    return HybridThermal(**entry | {"source": value(entry["source"])})


def _domain(setup: dict[str, Any], value: Callable[[Any], Any], part: Box | None) -> Domain:
    domain = Domain(tuple(setup["shape"]), setup["stencil"])
    parts = [(f"face {name!r}", entry) for name, entry in setup["faces"].items()]
    parts += [(f"body {name!r}", entry) for name, entry in setup["bodies"].items()]
    thermal_faces = setup.get("thermal", {}).get("faces", {})
    parts += [(f"face {name!r} of the temperature", entry) for name, entry in thermal_faces.items()]
    parts += [
        (f"body {name!r} of the temperature", e["thermal"]) for name, e in setup["bodies"].items() if "thermal" in e
    ]
    changing = [label for label, entry in parts if CHANGES in entry.values()]
    if changing:
        raise CheckpointError(
            f"the condition on {', '.join(changing)} changes in time, or a function gives it on a surface, and a file "
            "cannot hold a function; give the domain again: Solver.load(path, domain=...)"
        )

    moving = [name for name, entry in setup["bodies"].items() if "motion" in entry]
    if moving:
        raise CheckpointError(
            f"body {moving[0]!r} moves, and a file holds no geometry; give the domain again: "
            "Solver.load(path, domain=...)"
        )

    def condition(entry: dict[str, Any]) -> conditions.Condition:
        kind = conditions.BY_KIND[entry["condition"]]
        return kind(**{field.name: value(entry[field.name]) for field in fields(kind) if field.name in entry})

    for face, entry in setup["faces"].items():
        domain.faces[face] = condition(entry)
    for entry in setup.get("sponges", []):
        domain.add_sponge(**entry)
    for face, entry in thermal_faces.items():
        domain.thermal[face] = condition(entry)
    for name, entry in setup["bodies"].items():
        of_heat = entry.get("thermal", {"condition": conditions.Adiabatic.kind})
        # A file of an earlier version names no scheme, as all temperatures were half-way.
        thermal = condition(({"scheme": conditions.WALL_SCHEMES[0]} if "links" in entry else {}) | of_heat)
        cuts = Links(*(value(entry["links"][each]) for each in LINK_PARTS)) if "links" in entry else None
        offset = None if part is None else part[0]
        domain.add_body(value(entry["mask"]), name, condition(entry), thermal, offset=offset, links=cuts)
    return domain
