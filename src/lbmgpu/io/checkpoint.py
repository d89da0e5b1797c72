"""Checkpoints: the whole setup and the state, bit for bit, in one HDF5 file that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..collisions import Collision
from ..domain import FACES, Domain
from ..engine import settings
from ..engine.simulation import Simulation
from ..errors import CheckpointError
from ..files.atomic_write import naming
from ..files.interrupts import kept
from ..files.regular_files import check_output, file_path
from ..parallel.processes import Processes
from ..parallel.subdomain import Subdomain
from .checkpoint_arrays import Arrays, check_size, encoded, is_of_cells, mask_of
from .checkpoint_open import damage_of, opened
from .checkpoint_places import other_places, places
from .checkpoint_reader import Header, Stored, boundary_arrays
from .checkpoint_recorders import Kept, entries_of, stored
from .checkpoint_setup import (
    arguments_of,
    check_boundary,
    describe,
    differences,
    for_state_of,
    gather_links,
    links_of_process,
    state_of,
    without_cells,
)
from .checkpoint_slabs import write_cells_of_recorders
from .checkpoint_states import projected, rebuilt, warn_of_projection
from .checkpoint_writer import NewCheckpoint, new_checkpoint
from .chunks import Chunks, each

EXPONENT = 0x7C00
"""The bits of a float16 that are all set if it is not finite."""

Result = TypeVar("Result")


class _Piece(NamedTuple):
    """A part of the state in the rank's window: one population, or the temperature."""

    chunks: Chunks
    lead: int | None
    """The index of the population; None for all of the array."""
    part: NDArray[Any]


def save(simulation: Simulation, path: str | os.PathLike[str], recorders: Sequence[Kept] = ()) -> Path:
    """See `Solver.save`. Of `recorders` rank 0 has the arrays, but all ranks have their parts of those of cells.

    An interrupt ends it between two chunks, on all ranks, and is raised; the older file stays."""
    target = Path(os.path.realpath(file_path("path", path)))
    processes = simulation.processes
    processes.on_first(lambda: check_output(target))  # HDF5 does not survive a pipe
    with kept() as interrupts, ExitStack() as stack:

        def on_first(function: Callable[[], Result]) -> Result | None:
            """Call a function on rank 0; an error there, or an interrupt of any rank, is raised on all."""
            result, error = None, None
            try:
                with naming(target):  # raised here so that all ranks get it
                    result = function() if processes.first else None
            except BaseException as caught:  # the other ranks wait for the outcome
                error = caught
            processes.agree_on(error or next(iter(interrupts), None))
            return result

        simulation.check()
        setup, arrays = describe(simulation)
        gather_links(arrays, processes)
        manifest = {
            "steps": simulation.steps,
            "streaming": simulation.streaming,
            "reference_density": simulation.engine.reference_density,
            "setup": setup,
        }
        if known_places := places(simulation.domain, simulation.steps):
            manifest["places"] = known_places
        if recorders:
            manifest["recorders"] = entries_of(recorders)
        pieces = _pieces(simulation)
        digests = _digests_of_ranks(simulation, pieces)
        faces = {name: array for name, array in arrays.items() if not is_of_cells(name)} | _boundary_numbers(simulation)
        file = on_first(lambda: stack.enter_context(new_checkpoint(target, processes.threads, interrupts)))
        on_first(
            lambda: (
                None
                if file is None
                else _begin(file, [piece.chunks for piece in pieces], faces | dict(stored(recorders)))
            )
        )
        _write_cells(simulation, arrays, file, on_first)
        for piece in pieces:  # one by one, so that rank 0 need not hold the whole state
            whole = processes.gathered(simulation.layout, piece.part, simulation.engine.window)
            known = digests.get(piece.chunks.name, {})
            on_first(partial(_write, file, piece, whole, known))
        write_cells_of_recorders(simulation, recorders, file, on_first)
        on_first(lambda: None if file is None else file.close(manifest))
        on_first(stack.close)
    return target


def _pieces(simulation: Simulation) -> list[_Piece]:
    engine, window = simulation.engine, simulation.engine.window[1][::-1]
    dtype, shape = engine.storage_dtype, simulation.domain.shape[::-1]
    state = np.empty((engine.state_numbers, *window), dtype=dtype)
    engine.get_state(state)
    chunks = Chunks.of("state", (len(state), *shape), dtype, lead=1)
    pieces = [_Piece(chunks, number, part) for number, part in enumerate(state)]
    if simulation.thermal is not None:
        temperature = np.empty(window, dtype=simulation.storage)
        engine.temperature(temperature)
        pieces.append(_Piece(Chunks.of("temperature", shape, simulation.storage), None, temperature))
    kept = engine.kept_turbulence()
    if kept is not None:
        chunks = Chunks.of("turbulence", (len(kept), *shape), simulation.precision, lead=1)
        pieces += [_Piece(chunks, number, part.astype(chunks.dtype)) for number, part in enumerate(kept)]
    return pieces


def _boundary_numbers(simulation: Simulation) -> Arrays:
    """The numbers of boundary cells by their names in the file; on every rank those of the whole face."""
    names = boundary_arrays(
        simulation.domain.shape, {face: c.engine_name for face, c in simulation.domain.faces.items()}
    )
    return {name: simulation.engine.boundary_numbers(FACES.index(face)) for name, (face, _) in names.items()}


def _digests_of_ranks(simulation: Simulation, pieces: Sequence[_Piece]) -> dict[str, dict[int, str]]:
    """Digests by the names of arrays and the numbers of chunks, of those that a block of a rank holds whole."""
    processes = simulation.processes
    if processes.size == 1:
        return {}
    dimensions, origin = len(simulation.domain.shape), simulation.engine.window[0][::-1]
    blocks = [
        (block.offset[::-1], tuple(a + n for a, n in zip(block.offset, block.size, strict=True))[::-1])
        for block in simulation.layout
        if block.rank == processes.rank
    ]
    wanted = [
        (piece, chunk)
        for piece in pieces
        for chunk in (piece.chunks if piece.lead is None else piece.chunks.at(piece.lead))
        if any(
            all(a >= b for a, b in zip(chunk.low[-dimensions:], low, strict=True))
            and all(a <= b for a, b in zip(chunk.high[-dimensions:], high, strict=True))
            for low, high in blocks
        )
    ]

    def digest(item: Any) -> tuple[str, int, str]:
        piece, chunk = item
        ends = zip(chunk.low[-dimensions:], chunk.high[-dimensions:], origin, strict=True)
        own = np.ascontiguousarray(piece.part[tuple(slice(a - o, b - o) for a, b, o in ends)])
        return piece.chunks.name, chunk.index, piece.chunks.digest(chunk, own)

    found: dict[str, dict[int, str]] = {}
    for part in processes.shared(each(digest, wanted, processes.threads)):
        for name, index, text in part:
            found.setdefault(name, {})[index] = text
    return found


def _begin(file: NewCheckpoint, fields: Sequence[Chunks], arrays: Arrays) -> None:
    """Allocate the fields in the file, and write the arrays that every rank has whole."""
    for chunks in dict.fromkeys(fields):
        file.add(chunks)
    for name, array in arrays.items():
        chunks = Chunks.of(name, array.shape, array.dtype)
        file.add(chunks)
        file.write(chunks, array)


def _write_cells(
    simulation: Simulation, arrays: Arrays, file: NewCheckpoint | None, on_first: Callable[[Callable[[], Any]], Any]
) -> None:
    """Write the arrays that have a number a cell, given of each rank's part, with one component at a time on rank 0."""
    dimensions = len(simulation.domain.shape)
    order = tuple(reversed(range(dimensions)))
    mask: NDArray[np.bool_] | None = None
    for name in [name for name in arrays if is_of_cells(name)]:
        part = arrays.pop(name)
        count = len(part) if part.ndim > dimensions else None
        for lead in range(count or 1):
            component = part if count is None else part[lead]
            found = simulation.processes.gathered(
                simulation.layout, component.transpose(order), simulation.engine.window
            )
            whole = None if found is None else found.transpose(order)
            if name == mask_of(name):
                mask = whole
            on_first(partial(_write_component, file, name, whole, mask, lead, count))


def _write_component(
    file: NewCheckpoint | None,
    name: str,
    whole: NDArray[Any] | None,
    mask: NDArray[np.bool_] | None,
    lead: int,
    count: int | None,
) -> None:
    """Write one of `count` components of an array of cells, or all of an array without components."""
    if file is None or whole is None:
        return
    stored, more = encoded(name, whole, mask)
    if count is None:
        chunks = Chunks.of(name, stored.shape, stored.dtype)
    else:
        chunks = Chunks.of(name, (count, *stored.shape), stored.dtype, lead=1)
    if lead == 0:
        file.add(chunks, **more)
    file.write(chunks, stored, None if count is None else lead)


def _write(file: NewCheckpoint | None, piece: _Piece, whole: NDArray[Any] | None, digests: Mapping[int, str]) -> None:
    if file is not None and whole is not None:
        file.write(piece.chunks, whole, piece.lead, digests)


def restore(
    simulation: Simulation,
    path: str | os.PathLike[str],
    check: Callable[[Sequence[Kept], int], None] = lambda kept, steps: None,
) -> list[Kept]:
    """See `Solver.restore`. Nothing changes before every rank has read its part.

    Args:
        simulation, path: as there.
        check: raises CheckpointError where what recorders have kept after so many steps is not right.

    Returns:
        What recorders have kept, on each rank all of it, but of the arrays of cells what lies in its window.
    """
    found = simulation.processes.each(lambda: _read(simulation, path, check))
    with damage_of(file_path("path", path)):
        state = _as_kept(simulation, found)
    simulation.engine.reference_density = found.reference_density
    simulation.engine.set_state(state)
    if found.temperature is not None:
        simulation.engine.set_temperature(found.temperature)
    numbers = {FACES.index(face): values for face, values in found.boundary_numbers.items()}
    simulation.engine.set_boundary_numbers(numbers)
    simulation.set_steps(found.steps)
    if found.turbulence is not None:
        simulation.engine.set_kept_turbulence(found.turbulence)
    simulation.looks.begin_with_present()
    return found.recorders


def _as_kept(simulation: Simulation, found: _Found) -> NDArray[Any]:
    """The state that was found, as the solver keeps it; all ranks call this together."""
    if found.kept == simulation.settings.state:
        return found.state

    def converted() -> tuple[NDArray[Any], float, float]:
        with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are none of a flow
            if found.kept == "moments":
                result = rebuilt(simulation, found.state, found.steps), 0.0, 0.0
            else:
                result = projected(simulation, found.state, found.steps)
        _check_finite("state", result[0], simulation.bodies.solid.T)
        return result

    state, lost, largest = simulation.processes.each(converted)
    if found.kept == "populations":
        warn_of_projection(simulation, lost, largest)
    return state


class _Found(NamedTuple):
    """The contents of a file for a rank: state and temperature in its window, numbers of boundary cells by face."""

    kept: str
    """What a cell has in the state, as `Solver` names it."""
    state: NDArray[Any]
    temperature: NDArray[np.float64] | None
    turbulence: NDArray[np.float64] | None
    boundary_numbers: dict[str, NDArray[np.float64]]
    steps: int
    reference_density: float
    recorders: list[Kept]


def _read(simulation: Simulation, path: str | os.PathLike[str], check: Callable[[Sequence[Kept], int], None]) -> _Found:
    setup, arrays = describe(simulation)
    window = simulation.engine.window
    solid = simulation.bodies.solid.T
    with opened(path, simulation.processes.threads) as file:
        header = file.header
        stored_arrays = links_of_process(file.arrays(simulation.subdomain.window), simulation.subdomain)
        theirs, ours = for_state_of(header.setup, setup)
        found = list(differences(theirs, ours, stored_arrays, arrays, precision=simulation.precision))
        found += other_places(header.places, simulation.domain, header.steps)
        if found:
            listing = "".join(f"\n  {line}" for line in found)
            raise CheckpointError(f"a checkpoint of another setup:{listing}")
        state, temperature, numbers = file.state(window), file.temperature(window), file.boundary_numbers()
        _check_finite("state", state, solid)
        if temperature is not None:
            _check_finite("temperature", temperature[None], solid)
            temperature = temperature.astype(np.float64)
        kept = file.turbulence(window)
        if kept is not None:
            _check_finite("turbulence", kept, solid)
            kept = kept.astype(np.float64)
        for face, values in numbers.items():
            if not np.isfinite(values).all():
                raise CheckpointError(f"damaged, the numbers of face {face!r} hold values that are not finite")
        recorders = file.recorders(window)
        check(recorders, header.steps)
        if state_of(header.setup) != state_of(setup):
            kept = None  # that of a collision in place of which there is another one now
        more = (numbers, header.steps, header.reference_density, recorders)
        return _Found(state_of(header.setup), state, temperature, kept, *more)


def _check_finite(name: str, values: NDArray[Any], solid: NDArray[np.bool_]) -> None:
    """Raise CheckpointError for values of fluid cells that are not finite; those of solid cells may be anything.

    Args:
        name: of the field.
        values: ``(n, nz, ny, nx)``; of uint16 they are the bits of float16.
        solid: ``(nz, ny, nx)``.
    """
    for part in values:
        if part.dtype == np.uint16:
            wrong = (part & EXPONENT) == EXPONENT
        elif np.isfinite(part.min()) and np.isfinite(part.max()):  # much faster than to look at each, and as sure
            continue
        else:
            wrong = ~np.isfinite(part)
        if (wrong & ~solid).any():
            raise CheckpointError(f"damaged, the {name} holds values that are not finite")


def arguments(
    path: str | os.PathLike[str],
    domain: Domain | None,
    collision: Collision | None,
    processes: Processes,
    subdomain: Subdomain | None = None,
    state: str | None = None,
) -> dict[str, Any]:
    """The arguments of `Solver` that a checkpoint holds, checked; on all ranks, together. See `Solver.load`.

    Args:
        path: of the file.
        domain, collision: given in place of those in the file.
        processes: of the solver.
        subdomain: of this process, whose part of forces, heat sources and bodies is read; None for all of them.
        state: what cells shall keep; None for what they have in the file.
    """

    def read() -> dict[str, Any]:
        part = None if subdomain is None else subdomain.window
        with _opened(path, collision, processes) as file:
            header = file.header
            arrays = file.arrays(((0,) * len(header.shape), header.shape) if part is None else part)
        with damage_of(file_path("path", path)):
            found = arguments_of(header.setup, arrays, header.streaming, domain, collision, part)
            if domain is None and subdomain is None:
                check_boundary(found["domain"], found["thermal"], Subdomain.of(found["domain"], None), Processes())
        return found | _with_state(header, state, collision)

    found = processes.each(read)
    if domain is None and subdomain is not None:
        with damage_of(file_path("path", path)):
            check_boundary(found["domain"], found["thermal"], subdomain, processes)
    return found


def _with_state(header: Header, state: str | None, collision: Collision | None) -> dict[str, Any]:
    """The arguments that differ from those of the file where cells shall keep something else; its streaming is for what
    they have there.

    Raises:
        ValueError: the collision of the file keeps no moments, and there is no other.
    """
    model = header.setup["collision"].get("model")
    if state == "moments" and collision is None and model not in _core.moment_collisions():
        right = "give one that keeps them and has the same viscosity, as in collision=Regularized(...)"
        raise ValueError(f"collision: the file has {model!r}, whose state is no moments; {right}")
    return {} if state in (None, state_of(header.setup)) else {"state": state, "streaming": None}


def arguments_without_cells(
    path: str | os.PathLike[str],
    domain: Domain | None,
    collision: Collision | None,
    processes: Processes,
    state: str | None = None,
) -> dict[str, Any]:
    """The arguments without the bodies of the file, its force and its heat source; see `arguments`."""

    def read() -> dict[str, Any]:
        with _opened(path, collision, processes) as file:
            header, arrays = file.header, file.arrays(None)
        with damage_of(file_path("path", path)):
            found = arguments_of(without_cells(header.setup), arrays, header.streaming, domain, collision)
        return found | _with_state(header, state, collision)

    return processes.each(read)


@contextmanager
def _opened(path: str | os.PathLike[str], collision: Collision | None, processes: Processes) -> Iterator[Stored]:
    """A checkpoint whose state fits the memory, for a solver with a `collision` in place of its own."""
    if collision is not None:
        settings.check_collision(collision)
    with opened(path, processes.threads) as file:
        check_size(Chunks.of("state", file.header.state, file.header.dtype).nbytes // processes.size)
        yield file
