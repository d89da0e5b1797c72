"""Checkpoints: the whole setup and the state, bit for bit, in one HDF5 file that appears whole or not at all."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import NDArray

from . import checks, conditions, kinetic
from .collision_table import COLLISIONS
from .domain import Domain
from .errors import CheckpointError
from .layout import Layout
from .processes import Processes, box
from .thermal import HybridThermal
from .values import takes_time
from .vtk import file_path
from .whole_file import KeptErrors, replacing

if TYPE_CHECKING:
    from .solver import Solver

FORMAT = "lbmgpu checkpoint"
VERSION, THERMAL_VERSION, KINETIC_VERSION = 1, 2, 3
"""Of files without a temperature, with one beside the flow, which an older version of the package would leave out
unsaid, and of D2Q37."""
CHANGES = {"changes in time": True}
"""Stands in the file for a value that a callable gives before each step."""

_COLLISIONS = {collision.kind: collision for collision in COLLISIONS.values()}

Arrays = dict[str, NDArray[Any]]


def describe(solver: Solver) -> tuple[dict[str, Any], Arrays]:
    """What identifies the setup, as JSON with exact numbers, and the arrays that it refers to by name."""
    arrays: Arrays = {}

    def keep(name: str, value: Any, current: NDArray[np.float64], dimensions: int = 1) -> Any:
        """The value as JSON if it is uniform, of as many `dimensions` at most; else where it is."""
        if takes_time(value):
            return CHANGES
        if current.ndim <= dimensions:
            return current.tolist()
        arrays[name] = current
        return {"array": name}

    domain, boundary = solver._domain, solver._boundary
    setup: dict[str, Any] = {
        "stencil": domain.stencil,
        "shape": list(domain.shape),
        "precision": solver.precision,
        "storage": solver.storage,
        "collision": {"model": solver.collision.kind, **solver.collision.parameters(solver._stencil)},
        "faces": {},
        "bodies": {},
        "force": None if solver.force is None else keep("force", None, solver.force),
    }
    for face, condition in domain.faces.items():
        entry: dict[str, Any] = {"condition": condition.kind}
        setup["faces"][face] = entry
        if isinstance(condition, conditions.MovingWall | conditions.VelocityInlet):
            entry["velocity"] = keep(f"faces/{face}/velocity", condition.velocity, boundary.face_velocities[face])
        if isinstance(condition, conditions.PressureOutlet):
            entry["density"] = keep(f"faces/{face}/density", condition.density, boundary.face_densities[face])
    for index, (name, body) in enumerate(domain.bodies.items()):
        arrays[f"bodies/{index}/mask"] = body.mask
        entry = setup["bodies"][name] = {"condition": body.condition.kind, "mask": {"array": f"bodies/{index}/mask"}}
        if isinstance(body.condition, conditions.MovingWall):
            current = boundary.body_velocities[name]
            entry["velocity"] = keep(f"bodies/{index}/velocity", body.condition.velocity, current)
        if isinstance(body.thermal, conditions.Isothermal):
            current = boundary.body_temperatures[name]
            warmth = keep(f"bodies/{index}/temperature", body.thermal.temperature, current, 0)
            entry["thermal"] = {"condition": body.thermal.kind, "temperature": warmth}
    if solver.thermal is not None:
        source = solver.heat_source
        setup["thermal"] = solver.thermal.parameters(solver._stencil)
        setup["thermal"]["source"] = None if source is None else keep("source", None, source, 0)
    if solver._has_temperature:
        setup.setdefault("thermal", {})["faces"] = {
            face: {
                "condition": condition.kind,
                "temperature": keep(f"thermal/{face}", condition.temperature, boundary.face_temperatures[face], 0),
            }
            for face, condition in domain.thermal.items()
            if isinstance(condition, conditions.Isothermal)
        }
    return setup, arrays


def save(solver: Solver, path: str | os.PathLike[str]) -> Path:
    """See `Solver.save`."""
    target = Path(os.path.realpath(file_path("path", path)))
    solver.check()
    setup, arrays = describe(solver)
    state = np.empty((solver._stencil.Q, *solver._engine.window[1][::-1]), dtype=solver._engine.storage_dtype)
    solver._engine.get_state(state)
    parts = list(state)
    if solver.thermal is not None:
        parts.append(np.empty(state.shape[1:], dtype=solver.storage))
        solver._engine.temperature(parts[-1])
    processes, layout = solver._processes, solver.layout
    error: OSError | ValueError | None = None
    try:
        with ExitStack() as stack:
            write = processes.on_first(partial(stack.enter_context, _new_file(target, solver, setup, arrays)))
            for i, part in enumerate(parts):  # one after the other: rank 0 need not hold the whole state
                whole = processes.gathered(layout, part, solver._engine.window)
                if write is not None and whole is not None and error is None:
                    try:
                        write(i, whole)
                    except OSError as caught:  # the others are still sending
                        error = caught
            if error is not None:
                raise error
    except (OSError, ValueError) as caught:
        error = caught
    processes.agree_on(error)
    return target


@contextmanager
def _new_file(
    target: Path, solver: Solver, setup: dict[str, Any], arrays: Arrays
) -> Iterator[Callable[[int, NDArray[Any]], None]]:
    """A checkpoint that lacks its state only, which the function takes population by population, then the temperature.

    It takes the target's place when it is left.

    Raises:
        OSError: it cannot be written, with its path.
    """
    shape, dtype = (solver._stencil.Q, *solver._domain.shape[::-1]), np.dtype(solver._engine.storage_dtype)
    with replacing(target) as temporary, KeptErrors(temporary) as stream:
        try:
            # the newer layout has checksums on its metadata, Fletcher's are on the data
            with h5py.File(stream, "w", libver="v110") as file:
                file.attrs["format"] = FORMAT
                file.attrs["version"] = _version(solver)
                file.attrs["steps"] = solver.steps
                file.attrs["streaming"] = solver.streaming
                file.attrs["reference_density"] = solver._engine.reference_density
                file.create_dataset("setup", data=np.frombuffer(json.dumps(setup).encode(), np.uint8), fletcher32=True)
                chunks = _chunks(shape, dtype.itemsize)
                state = file.create_dataset("state", shape, dtype, chunks=chunks, fletcher32=True)
                fields = [partial(state.__setitem__, number) for number in range(shape[0])]
                if solver.thermal is not None:
                    heat = file.create_dataset(
                        "temperature", shape[1:], solver.storage, chunks=chunks[1:], fletcher32=True
                    )
                    heat.attrs["above_reference"] = True  # older files hold the temperature itself
                    fields.append(partial(heat.__setitem__, ...))
                for name, array in arrays.items():
                    file.create_dataset(f"arrays/{name}", data=array, compression="gzip", shuffle=True, fletcher32=True)

                def write(number: int, field: NDArray[Any]) -> None:
                    fields[number](field)
                    stream.check()

                yield write
        except RuntimeError as error:  # of HDF5, which read back what a full disk had not taken
            stream.check()
            raise OSError(str(error)) from error
        stream.check()


def _version(solver: Solver) -> int:
    if solver._stencil.name == kinetic.STENCIL:
        return KINETIC_VERSION
    return VERSION if solver.thermal is None else THERMAL_VERSION


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Whole slabs of one population, of about a MiB."""
    slab = math.prod(shape[2:]) * itemsize
    return (1, min(shape[1], max(1, 2**20 // max(slab, 1))), *shape[2:])


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[h5py.File, dict[str, Any]]]:
    """An open checkpoint of a known version and its setup; what goes wrong in reading it is a CheckpointError."""
    source = file_path("path", path)
    if not source.is_file():
        raise FileNotFoundError(f"no checkpoint at {source}")
    try:
        with h5py.File(source, "r") as file:
            if file.attrs.get("format") != FORMAT:
                raise CheckpointError(f"{source}: not a checkpoint of lbmgpu")
            version = int(file.attrs["version"])
            if version not in (VERSION, THERMAL_VERSION, KINETIC_VERSION):
                known = f"{VERSION}, {THERMAL_VERSION} and {KINETIC_VERSION}"
                raise CheckpointError(f"{source}: of format version {version}, this lbmgpu reads versions {known}")
            yield file, json.loads(file["setup"][:].tobytes())
    except CheckpointError:
        raise
    except PermissionError:
        raise
    except (OSError, KeyError, RuntimeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{source}: damaged or not a checkpoint ({error})") from error


def restore(solver: Solver, path: str | os.PathLike[str]) -> None:
    """See `Solver.restore`. Nothing changes before every rank has read its part."""
    state, temperature, steps, reference_density = solver._processes.each(lambda: _read(solver, path))
    solver._engine.reference_density = reference_density
    solver._engine.set_state(state)
    if temperature is not None:
        solver._engine.set_temperature(temperature)
    solver._engine.steps = steps


def _read(solver: Solver, path: str | os.PathLike[str]) -> tuple[NDArray[Any], NDArray[np.float64] | None, int, float]:
    """State and temperature in the solver's window, the steps and the reference density."""
    with _opened(path) as (file, stored):
        setup, arrays = describe(solver)
        found = list(_differences("", stored, setup, file.get("arrays", {}), arrays))
        if found:
            listing = "".join(f"\n  {line}" for line in found)
            raise CheckpointError(f"{path}: a checkpoint of another setup:{listing}")
        whole = (file["state"].shape, file["state"].dtype)
        offset, size = solver._engine.window
        state = file["state"][box(offset, size)]
        heat = file["temperature"] if solver.thermal is not None else None
        temperature = None
        if heat is not None:
            given = 0.0 if heat.attrs.get("above_reference", False) else solver._reference_temperature
            temperature = heat[box(offset, size)].astype(np.float64) - given
        heat_shape = None if heat is None else (heat.shape, heat.dtype)
        steps = int(file.attrs["steps"])
        reference_density = float(file.attrs["reference_density"])
    expected = (solver._stencil.Q, *solver._domain.shape[::-1])
    if whole != (expected, solver._engine.storage_dtype):
        raise CheckpointError(f"{path}: damaged, the state is {whole[1]} {whole[0]}, not {expected}")
    if heat_shape is not None and heat_shape != (expected[1:], solver.storage):
        raise CheckpointError(f"{path}: damaged, the temperature is {heat_shape[1]} {heat_shape[0]}")
    if steps < 0 or not reference_density > 0:
        raise CheckpointError(f"{path}: damaged, {steps} steps and a reference density of {reference_density}")
    return state, temperature, steps, reference_density


def _is_array(entry: Any) -> bool:
    """Whether an entry of a setup names an array; bodies may be called anything, "array" too."""
    return isinstance(entry, dict) and set(entry) == {"array"} and isinstance(entry["array"], str)


def _differences(key: str, stored: Any, own: Any, stored_arrays: Any, arrays: Arrays) -> Iterator[str]:
    """A line for each key in which two setups differ."""
    if isinstance(stored, dict) and isinstance(own, dict):
        if _is_array(stored) and _is_array(own):
            if not np.array_equal(stored_arrays[stored["array"]][()], arrays[own["array"]]):
                yield f"{key}: the arrays differ"
            return
        if not _is_array(stored) and not _is_array(own):
            for name in [*stored, *(n for n in own if n not in stored)]:
                path = f"{key}.{name}" if key else name
                yield from _differences(path, stored.get(name), own.get(name), stored_arrays, arrays)
            return
    if stored != own:
        yield f"{key}: the file has {_shown(stored)}, this solver has {_shown(own)}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return "an array" if "array" in value else "a function of time" if value == CHANGES else checks.shown(value)
    return checks.shown(value)


def load(
    cls: type[Solver],
    path: str | os.PathLike[str],
    *,
    domain: Domain | None,
    device: str | Sequence[str],
    layout: Layout | str | os.PathLike[str] | None,
    comm: Any,
    threads: int | None,
) -> Solver:
    """See `Solver.load`."""
    processes = Processes.of(comm)

    def read() -> tuple[dict[str, Any], Arrays, str, Domain]:
        with _opened(path) as (file, setup):
            stored: Arrays = {}

            def keep(name: str, item: h5py.Dataset | h5py.Group) -> None:
                if isinstance(item, h5py.Dataset):
                    stored[name] = item[()]

            if "arrays" in file:
                file["arrays"].visititems(keep)
            streaming = str(file.attrs["streaming"])
        given = _domain(path, setup, partial(_value, stored)) if domain is None else domain
        return setup, stored, streaming, given

    setup, stored, streaming, domain = processes.each(read)
    parameters = dict(setup["collision"])
    collision = _COLLISIONS[parameters.pop("model")](**parameters)
    solver = cls(
        domain,
        collision,
        force=_value(stored, setup["force"]),
        precision=setup["precision"],
        storage=setup["storage"],
        streaming=streaming,
        device=device,
        comm=comm if comm is None else processes,
        layout=layout,
        threads=threads,
        thermal=_thermal(setup, partial(_value, stored)),
    )
    restore(solver, path)
    return solver


def _value(stored: Arrays, entry: Any) -> Any:
    return stored[entry["array"]] if isinstance(entry, dict) else entry


def _thermal(setup: dict[str, Any], value: Callable[[Any], Any]) -> HybridThermal | None:
    entry = dict(setup.get("thermal") or {})
    entry.pop("faces", None)
    if not entry:  # of D2Q37 there are faces only
        return None
    return HybridThermal(**entry | {"source": value(entry["source"])})


def _domain(path: str | os.PathLike[str], setup: dict[str, Any], value: Any) -> Domain:
    domain = Domain(tuple(setup["shape"]), setup["stencil"])
    parts = [(f"face {name!r}", entry) for name, entry in setup["faces"].items()]
    parts += [(f"body {name!r}", entry) for name, entry in setup["bodies"].items()]
    heated = setup.get("thermal", {}).get("faces", {})
    parts += [(f"face {name!r} of the temperature", entry) for name, entry in heated.items()]
    parts += [
        (f"body {name!r} of the temperature", e["thermal"]) for name, e in setup["bodies"].items() if "thermal" in e
    ]
    changing = [label for label, entry in parts if CHANGES in entry.values()]
    if changing:
        raise CheckpointError(
            f"{path}: the condition on {', '.join(changing)} changes in time, and a file cannot hold a function; "
            "give the domain again: Solver.load(path, domain=...)"
        )

    def condition(entry: dict[str, Any]) -> conditions.Condition:
        arguments = {k: value(v) for k, v in entry.items() if k in ("velocity", "density", "temperature")}
        return conditions.BY_KIND[entry["condition"]](**arguments)

    for face, entry in setup["faces"].items():
        domain.faces[face] = condition(entry)
    for face, entry in heated.items():
        domain.thermal[face] = condition(entry)
    for name, entry in setup["bodies"].items():
        thermal = condition(entry["thermal"]) if "thermal" in entry else None
        domain.add_body(value(entry["mask"]), name, condition(entry), thermal)
    return domain
