"""Series of fields: what `Solver.record` writes to files while a solver goes on, for ParaView and xarray."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import DroppedFramesWarning, warn
from ..files.regular_files import file_path
from ..files.temporary_file import remove_abandoned
from ..solver.field_units import FIELD_UNITS
from ..solver.recording import Recorder
from ..solver.solver import simulation_of
from ..units import Units
from . import memory_needs
from .series_plan import LIST_NAME, Frame, FrameList, Plan, delete_files, plan_of, read_list
from .series_selection import Piece, Selection
from .series_writer import FRAMES, Writer

if TYPE_CHECKING:
    import xarray

    from ..solver.solver import Solver
    from .series_vti import VtiFiles
    from .series_vtkhdf import VtkHdfFiles
    from .series_zarr import ZarrFiles

    Files = VtkHdfFiles | VtiFiles | ZarrFiles

FORMATS = ("vtkhdf", "vti", "zarr")
PRECISIONS = ("float16", "float32", "float64")
_ENDINGS = {"vtkhdf": ".vtkhdf", "vti": ".pvd", "zarr": ".zarr"}
LONG_INDEX = 0.5
"""Seconds from which on an index is not written for each frame: those of thousands of frames take longer."""
INDEX_SHARE = 0.1
"""Of the time, that writing such an index takes at most."""
_CORES_A_THREAD = 8
"""CPU threads of a solver for one that compresses, which takes turns with them."""


class Series(Recorder):
    """Fields of a run over time, in files that ParaView and xarray open as one.

    At each step that is due the fields are copied, and a thread of its own converts, compresses and writes them while
    the next steps run. At most two frames are in memory; a solver that is faster than the disk waits. Each frame is a
    file of its own (of each block, if there are several ranks) in a folder, and is whole or not there; an index is
    replaced when a frame has been written. Solid cells have the values that the solver's methods give them, and 1 in
    the field ``solid``, which is in the files too; a frame's position is that of its cells, at the centres
    ``0.5, 1.5, ...`` along each axis.

    A solver that goes on from a checkpoint goes on with its series too: record it after `Solver.load` or `restore`, and
    frames of later steps than the checkpoint's are deleted, with a `DroppedFramesWarning`. `initialize` deletes all.
    `open_series` reads a series without a solver, and deletes nothing.

    An error of the disk loses no frame that has been written. It is raised on all ranks by the next sample or by
    `flush`, at the end of `run` at the latest, with the name of the file; afterwards recording can go on.

    Args:
        path: of the index without its ending, such as ``"flow"`` for ``flow.vtkhdf`` and the folder ``flow``.
        fields: names of fields, or one name, which are methods of the solver: density, velocity, temperature and so on.
        every: steps between two frames.
        start: the first step that may have a frame.
        region: None for all cells, or integers and slices, as in ``np.s_[:, :, 24]``.
        stride: every so many cells of the region are kept; an integer, or one for each axis.
        precision: type of the files. ``"float16"`` has 11 bits: keep the pressure in it rather than the density.
        units: None for lattice units; otherwise values, lengths and times are those of SI.
        format: ``"vtkhdf"`` for ``flow.vtkhdf``, for ParaView 5.13 and later; ``"vti"`` for ``flow.pvd``, for all of
            them; ``"zarr"`` for ``flow.zarr``, for xarray. None of them needs another package to be written.
        compression: level from 1 to 9, 0 for none. None is 1, or 0 for ``"vti"``, which has no other.
        overwrite: whether a series that is there is deleted.
        name: under which the solver knows it; the path if None.

    Raises:
        TypeError, ValueError: wrong arguments; from `Solver.record` also fields that the solver does not have, and a
            path where another series is.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fields: str | Sequence[str] = ("density", "velocity"),
        every: int = 1,
        *,
        start: int = 0,
        region: Any = None,
        stride: int | Sequence[int] = 1,
        precision: str = "float32",
        units: Units | None = None,
        format: str = "vtkhdf",
        compression: int | None = None,
        overwrite: bool = False,
        name: str | None = None,
    ) -> None:
        self._format = checks.choice("format", format, FORMATS)
        target = self._given = file_path("path", path)
        if target.suffix == _ENDINGS[self._format]:
            target = target.with_suffix("")
        elif target.suffix in (*_ENDINGS.values(), ".vti"):
            raise ValueError(f"path: {target} given, must end in {_ENDINGS[self._format]} for this format, or in none")
        if not target.name:
            raise ValueError(f"path: {checks.shown(path)} given, must name a file")
        super().__init__(every, start, str(target)[-checks.MAX_NAME :] if name is None else name)
        self._target = target
        names = (
            [fields]
            if isinstance(fields, str)
            else checks.listed("fields", fields, "a list of names, such as ['density', 'velocity']")
        )
        self._names = tuple(checks.choice("fields", field, FIELD_UNITS) for field in names)
        if not names or len(set(names)) < len(names):
            raise ValueError(f"fields: {checks.shown(names)} given, must be one or more different names")
        self._region, self._stride = region, stride
        self._precision = checks.choice("precision", precision, PRECISIONS)
        if units is not None and not isinstance(units, Units):
            raise TypeError(f"units: {checks.shown(units)} given, must be Units(...) or None")
        self._units = units
        if self._format == "vti" and self._precision == "float16":
            raise ValueError("precision: 'float16' given, which VTK images do not have; format='vtkhdf' and 'zarr' do")
        given = int(self._format != "vti") if compression is None else compression
        self._level = checks.integer("compression", given, at_most=9)
        if self._format == "vti" and self._level:
            raise ValueError(f"compression: {self._level} given, must be 0 for format='vti'")
        self._overwrite = checks.flag("overwrite", overwrite)
        self._files: Files | None = None
        self._frames = FrameList()
        self._written: set[int] = set()
        self._is_alone = True
        self._index_is_late, self._index_at, self._index_seconds = False, 0.0, 0.0

    def attach(self, solver: Solver) -> None:
        """See `Recorder.attach`; takes the first frame if it is due."""
        simulation = self._simulation = simulation_of(solver)
        processes = simulation.processes
        selection = Selection(self._region, self._stride, tuple(simulation.domain.shape))
        processes.each(self._check_place)
        threads = max(1, processes.threads // _CORES_A_THREAD) if simulation.device == "cpu" else processes.threads
        region = tuple(slice(axis.start, axis.start + 1) for axis in selection.axes)
        one = {name: processes.each(partial(_read, solver, name, False, region)) for name in self._names}
        dimensions = len(selection.shape)
        components = {name: values.shape[0] if values.ndim > dimensions else 0 for name, values in one.items()}
        kind = np.dtype(self._precision)
        self._plan = Plan(self._target, selection, components, kind, self._units, self._level, min(threads, 8))
        self._files = files = _files_of(self._format, self._plan)
        window = tuple(simulation.engine.window[0]), tuple(simulation.engine.window[1])
        blocks = [(k, (block.offset, block.size)) for k, block in enumerate(simulation.layout)]
        mine = {k for k, block in enumerate(simulation.layout) if block.rank == processes.rank}
        if files.gathers or processes.size == 1:
            window = (0,) * dimensions, selection.shape
            blocks, mine = [(0, window)], {0} if processes.first else set()
        self._is_alone = files.gathers or processes.size == 1
        self._pieces = selection.pieces(blocks, window)
        self._own = [piece for piece in self._pieces if piece.number in mine]
        self._check_memory()
        self._writer = Writer(f"series {self._target.name}")
        self._cut = processes.shared(processes.on_first(lambda: self._open_folder(solver.steps)))[0]
        processes.each(lambda: files.write_solid(self._cut, self._solid()))
        if self.is_due(solver.steps):
            self.sample(solver)

    def _check_memory(self) -> None:
        """Raise TooLittleMemoryError where the frames that are in memory at a time do not fit, beside what is written.

        Fields are read in the solver's type, and converted one by one by the thread.
        """
        simulation, counts = self._simulation, self._plan.selection.counts
        cells = sum(math.prod(piece.count) for piece in self._own)
        itemsize = np.dtype(simulation.precision).itemsize
        components = [max(1, n) for n in self._plan.fields.values()]
        of_frames = FRAMES * sum(components) * itemsize * cells
        converted = max(components) * max(itemsize, self._plan.dtype.itemsize) * cells
        gathered = max(components) * itemsize * math.prod(counts) if self._own and self._known_files.gathers else 0
        needs = {"cpu": of_frames + 2 * converted + gathered}
        memory_needs.check(simulation, self.name, needs, "fewer fields, a region= or a stride= needs less")

    def sample(self, solver: Solver) -> None:
        """See `Recorder.sample`."""
        files, processes, step = self._known_files, self._simulation.processes, solver.steps
        self._commit()
        processes.each(self._writer.check)
        self._writer.reserve()
        try:
            frame = self._copied(solver)
        except BaseException:
            self._writer.release()
            raise
        if files.gathers and not processes.first:
            self._writer.release()
        else:
            self._writer.put(lambda: self._write(step, frame))

    def state_was_set(self, solver: Solver) -> None:
        """See `Recorder.state_was_set`: later frames than the state are deleted."""
        late: Exception | None = None
        try:
            self._finish()
        except Exception as error:  # of a frame that could not be written; told once the series goes with the state
            late = error
        step = solver.steps
        after = step if step and not self.is_due(step) else step - 1
        self._written.clear()
        self._simulation.processes.on_first(lambda: self._drop(after))
        if self.is_due(step):
            self.sample(solver)
        if late is not None:
            raise late

    def flush(self) -> None:
        """Wait until all frames are in the files; raises the first error of the thread.

        All ranks call it together. `run` calls it at its end; after steps with `Solver.step` call it yourself.
        """
        if self._files is None:
            raise ValueError(f"{self.name}: it has no solver yet; solver.record(...) gives it one")
        self._finish()

    def abandon(self) -> None:
        """See `Recorder.abandon`: the frames of this rank are written, and not put into the index."""
        if self._files is not None:
            self._writer.wait()

    @property
    def path(self) -> Path:
        """Of the index, which is what ParaView or xarray opens."""
        return self._target.with_name(self._target.name + _ENDINGS[self._format])

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of the frames that are in the files, of which it waits for the last; on rank 0, elsewhere none."""
        self._catch_up()
        return tuple(self._frames.steps)

    def open(self) -> xarray.Dataset:
        """The series as a dataset with coordinates of space and time, whose values are read where they are used.

        A field has the axes time, component (if it has several) and x, y and z but those along which the region names
        one cell. It waits for frames that are being written. Of several ranks one is enough; but call `flush` on all
        of them before, unless a run has just ended.

        Raises:
            ImportError: xarray is missing: ``pip install 'lbmgpu[xarray]'``; for a series of zarr ``lbmgpu[zarr]``.
            FileNotFoundError: there is no frame yet.
            ValueError: VTK images were written, which xarray does not read.
        """
        if self._files is None:
            raise ValueError(
                f"{self.name}: it has no solver yet; solver.record(...) gives it one, and lbm.open_series(...) opens a "
                "series that is there"
            )
        if self._simulation.processes.size == 1:
            self.flush()
        self._catch_up()
        return _opened("Series.open", self._format, self.path, self._plan)

    def _catch_up(self) -> None:
        """Wait for what this rank writes, without the others; errors are kept for `flush`."""
        if self._files is None:
            return
        self._writer.wait()
        if self._index_is_late:
            self._writer.put(self._write_index, has_frame=False)
            self._writer.wait()

    # What rank 0 does with the folder

    def _check_place(self) -> None:
        """Raise FileNotFoundError where there is no folder for the series."""
        folder = Path(os.path.realpath(self._target.parent))
        if not folder.is_dir():
            raise FileNotFoundError(f"path: {self._given} given, but there is no folder {folder}; make it first")

    def _open_folder(self, step: int) -> int:
        """Make the folder, or go on with the series in it after so many steps; the number of the cut."""
        files = self._known_files
        properties = self._plan.properties(self._format)
        folder = files.folder
        known = FrameList() if self._overwrite else FrameList.read(folder, properties) or FrameList()
        if step == 0 and known.frames:
            raise ValueError(
                f"path: {folder} has the series of a run to step {known.steps[-1]}, but this solver is at step 0; "
                "record it after restoring a checkpoint to go on with it, give another path, or overwrite=True to "
                "delete it"
            )
        later = [at for at in known.steps if at > step]
        if later:
            text = f"{later[0]} to {later[-1]} ({len(later)} frames)" if len(later) > 1 else f"{later[0]}"
            warn(
                f"path: {folder} has frames of later steps than this solver's {step}: those of {text} are deleted, "
                "as the series goes on from here; lbm.open_series(path) reads one and deletes nothing",
                DroppedFramesWarning,
            )
        is_series = (folder / LIST_NAME).exists()
        if folder.exists() and not is_series and (not folder.is_dir() or any(folder.iterdir())):
            raise ValueError(f"path: {folder} given, which is there and no series; give another path")
        if is_series and self._overwrite:
            files.write_index(FrameList())
            delete_files(folder)
            self._files = files = _files_of(self._format, self._plan)  # which has written nothing yet
        files.folder.mkdir(exist_ok=True)
        self._frames = known
        self._overwrite = False
        cut = known.cut([(p.number, list(p.offset), list(p.count)) for p in self._pieces])
        self._drop(step if not self.is_due(step) else step - 1)
        return cut

    def _drop(self, after: int) -> None:
        """Take later frames out of the index, and delete the files that are of none that is in it."""
        files = self._known_files
        self._frames.drop(after)
        self._frames.write(files.folder, self._plan.properties(self._format))
        self._write_index()
        kept = {
            path.name
            for step, cut in self._frames.frames
            for path in files.frame_files(step, [number for number, _, _ in self._frames.cuts[cut]])
        }
        for path in files.folder.iterdir():
            if files.is_frame(path) and path.name not in kept:
                path.unlink(missing_ok=True)
            elif path.name.startswith(".tmp-"):
                remove_abandoned(path.with_name(path.name.rpartition("-")[2]))

    def _write_index(self) -> None:
        start = time.monotonic()
        self._known_files.write_index(self._frames)
        self._index_is_late, self._index_at = False, time.monotonic()
        self._index_seconds = self._index_at - start

    # Frames

    def _copied(self, solver: Solver) -> Frame:
        """The own pieces of all fields of now; an error on one rank is raised on all."""
        simulation = self._simulation
        gather = self._known_files.gathers and simulation.processes.size > 1
        index = self._plan.selection.index
        frame: Frame = {}
        for name in self._names:
            values = simulation.processes.each(partial(_read, solver, name, gather, index))
            frame[name] = self._cut_up(values)
        return frame

    def _cut_up(self, values: Any) -> list[tuple[Piece, NDArray[Any]]]:
        """The own pieces of a field of all selected cells of this process; None where it has none.

        They are views where the field is all cells, of which nothing is left over, and copies of a part otherwise.
        """
        pieces = [(piece, values[(..., *piece.source)]) for piece in self._own]
        if self._plan.selection.is_whole:
            return pieces
        return [(piece, np.copy(part, order="K")) for piece, part in pieces]

    def _solid(self) -> list[tuple[Piece, NDArray[Any]]]:
        """The own pieces of the mask of solid cells."""
        simulation = self._simulation
        gather = self._known_files.gathers and simulation.processes.size > 1
        selection = self._plan.selection
        solid: Any = simulation.bodies.solid
        if gather:
            whole = simulation.processes.gathered(simulation.layout, solid.T.astype(np.uint8), simulation.engine.window)
            return [] if whole is None else self._cut_up(whole.T[selection.index])
        window = tuple(simulation.engine.window[0]), tuple(simulation.engine.window[1])
        return self._cut_up(solid[selection.inside(window)])

    def _write(self, step: int, frame: Frame) -> None:
        """What the thread does with a frame."""
        self._known_files.write_frame(step, len(self._frames.frames), frame)
        if self._is_alone:
            self._add([step])
        else:
            self._written.add(step)

    def _commit(self) -> None:
        """Have those frames put into the index that all ranks have written; a process alone does so as it writes."""
        if self._is_alone:
            return
        processes = self._simulation.processes
        steps = sorted(set.intersection(*map(set, processes.shared(sorted(self._written)))))
        self._written.difference_update(steps)
        if steps and processes.first:
            self._writer.put(lambda: self._add(steps), has_frame=False)

    def _add(self, steps: list[int]) -> None:
        """Put frames into the list, and into the index unless that takes long and has been written just now."""
        for step in steps:
            self._frames.add(step, self._cut)
        self._frames.write(self._known_files.folder, self._plan.properties(self._format))
        if self._index_seconds < LONG_INDEX or time.monotonic() > self._index_at + self._index_seconds / INDEX_SHARE:
            self._write_index()
        else:
            self._index_is_late = True

    def _finish(self) -> None:
        """See `flush`, of ranks that all come here."""
        self._writer.wait()
        self._commit()
        self._writer.wait()
        if self._index_is_late:
            self._writer.put(self._write_index, has_frame=False)
            self._writer.wait()
        self._simulation.processes.each(self._writer.check)

    @property
    def _known_files(self) -> Files:
        assert self._files is not None
        return self._files


def _read(solver: Solver, name: str, gather: bool, region: Any) -> Any:
    """A field of now."""
    return getattr(solver, name)(gather=gather, region=region)


def _files_of(file_format: str, plan: Plan) -> Files:
    """What writes a format."""
    if file_format == "vtkhdf":
        from .series_vtkhdf import VtkHdfFiles

        return VtkHdfFiles(plan)
    if file_format == "vti":
        from .series_vti import VtiFiles

        return VtiFiles(plan)
    from .series_zarr import ZarrFiles

    return ZarrFiles(plan)


def open_series(path: str | os.PathLike[str]) -> xarray.Dataset:
    """A series that is there as a dataset, as `Series.open` gives it, without a solver; nothing is written.

    The steps of its frames are the coordinate ``step``, and values are read where they are used. A series that is still
    being written can be opened too, with the frames that are in its index by then.

    Args:
        path: of its index, such as ``"flow.vtkhdf"`` or ``"flow.zarr"``, or of its folder ``"flow"``.

    Raises:
        ImportError: xarray, or zarr for a series of that format, is missing: ``pip install 'lbmgpu[zarr]'``.
        FileNotFoundError: there is no series, or it has no frame yet.
        ValueError: it is none, or has VTK images, which xarray does not read.
    """
    given = file_path("path", path)
    ended = given.suffix in (_ENDINGS["vtkhdf"], _ENDINGS["vti"])
    places = [given.with_suffix("") if ended else given, given.with_name(f"{given.name}.zarr")]
    folder = next((place for place in places if (place / LIST_NAME).is_file()), None)
    if folder is None:
        raise FileNotFoundError(f"path: {given} given, but there is no series, of which {places[0] / LIST_NAME} is")
    known, _ = read_list(folder)
    file_format = checks.choice(f"format of {folder}", known.get("format"), FORMATS)
    index = folder if file_format == "zarr" else folder.with_name(f"{folder.name}{_ENDINGS[file_format]}")
    return _opened("open_series", file_format, index, plan_of(folder, known))


def _opened(caller: str, file_format: str, index: Path, plan: Plan) -> xarray.Dataset:
    """The dataset over an index."""
    if file_format == "vti":
        raise ValueError("format: 'vti' given, which xarray does not read; format='vtkhdf' and 'zarr' can be opened")
    try:
        from . import series_open

        if file_format == "zarr":
            import zarr  # noqa: F401  # which xarray reads it with
    except ImportError as error:
        raise ImportError(f"{caller} needs xarray and zarr ({error}): pip install 'lbmgpu[zarr]'") from None
    if file_format == "zarr":
        return series_open.open_zarr(index)
    if not index.exists():
        raise FileNotFoundError(f"{index}: there is no frame yet")
    return series_open.open_vtkhdf(plan, index)
