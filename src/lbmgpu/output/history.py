"""Histories: numbers that are recorded after steps, and read as arrays, tables, datasets and files."""

from __future__ import annotations

import io
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks
from ..files.atomic_write import write_text
from ..files.regular_files import file_path, output_path
from ..io.checkpoint_recorders import Array
from ..parallel.collective import together
from ..solver.field_units import FIELD_UNITS, Unit, sum_units
from ..solver.recording import Recorder
from ..solver.solver import Solver, simulation_of
from ..units import Units
from ..values import Floats
from .batches import FEWEST, half_widths

if TYPE_CHECKING:
    import pandas
    import xarray

AXES = "xyz"


class History(Recorder):
    """A row of numbers after each step that is due, as arrays by name.

    Samples are taken after steps: the state that is there when it is recorded is not one of them.

    Of several processes all have all samples. After `run` each may read them alone; what `step` has added since is
    gathered when it is read, by all processes together.

    Args:
        every, start, name: as for `Recorder`.
    """

    def __init__(self, every: int = 1, start: int = 0, name: str | None = None) -> None:
        super().__init__(every, start, name)
        self._sampler: _core.SeriesSampler | None = None
        self._steps: list[NDArray[np.int64]] = []
        self._rows: list[Floats] = []
        self._dimensions = 0

    # What a subclass has

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arrays of a sample by name, in the order of a row."""
        raise NotImplementedError

    def _signature(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint has of the setup, which must be the same in the recorder that goes on."""
        return {}

    def _dims(self, field: str) -> tuple[str, ...]:
        """The names of the axes of a field of a sample."""
        raise NotImplementedError

    def _coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]:
        """Coordinates of the axes: dimensions and values by name; those that are lengths are ``x, y, z, distance``."""
        return {}

    def _unit(self, field: str) -> Unit | None:
        """The unit of a field; None for a number without one."""
        return (FIELD_UNITS | sum_units(self._dimensions))[field]

    # Reading

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps after which samples were taken, ``(samples,)``."""
        self._complete()
        return self._steps[0].copy()

    @property
    def fields(self) -> tuple[str, ...]:
        """The names that ``history[...]`` takes."""
        return tuple(self._shapes())

    def __len__(self) -> int:
        self._complete()
        return len(self._steps[0])

    def __getitem__(self, field: str) -> Floats:
        """An array of all samples, in lattice units, the samples along its first axis."""
        shapes = self._shapes()
        checks.choice("field", field, shapes)
        self._complete()
        first = 0
        for name, shape in shapes.items():
            width = math.prod(shape)
            if name == field:
                return self._rows[0][:, first : first + width].reshape(len(self._rows[0]), *shape).copy()
            first += width
        raise AssertionError(field)

    def confidence(self, field: str, level: float = 0.95, after: int = 0) -> Any:
        """Half the width of the confidence interval of the mean over time, a number or an array for each number.

        It says how well the mean over time is known from these samples, and nothing of cells or walls: by the means of
        6 to 11 batches of one length (Schmeiser, Oper. Res. 30 (1982) 556), and wider where neighbouring ones are
        still correlated. Let the samples last some hundred times their correlation time, and leave out the transient.
        Of several processes as for the samples.

        Args:
            field: one of `fields`.
            level: of confidence, above 0 and below 1.
            after: samples after this step count.

        Raises:
            TypeError, ValueError: not one of the fields, no such level or step, or fewer than 4 samples after it.
        """
        values = self[field]
        level = checks.number("level", level, above=0, below=1)
        after = checks.integer("after", after)
        chosen = values[self.steps > after]
        if len(chosen) < FEWEST:
            raise ValueError(f"confidence: {len(chosen)} samples after step {after}, needs {FEWEST} at least")
        found = half_widths(chosen.reshape(len(chosen), -1), level).reshape(chosen.shape[1:])
        return float(found) if found.ndim == 0 else found

    def to_pandas(self, units: Units | None = None) -> pandas.DataFrame:
        """A table with a row for each sample, by the number of its step, and a column for each number.

        Args:
            units: for physical values and a column of times; lattice units if None.

        Raises:
            ImportError: pandas is not there.
            TypeError: `units` are no `Units`.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError(f"tables need pandas ({error}): pip install 'lbmgpu[study]'") from None
        names, values = self._table(_checked(units))
        return pandas.DataFrame(values, columns=names, index=pandas.Index(self.steps, name="step"))

    def to_csv(self, path: str | os.PathLike[str], units: Units | None = None) -> Path:
        """Write the samples as text separated by commas, a row for each and every digit; return the path.

        Of several processes, which call it together, rank 0 writes. The file appears whole or not at all.

        Args:
            path: of the file.
            units: for physical values and a column of times; lattice units if None.

        Raises:
            OSError: the file cannot be written.
            TypeError: `units` are no `Units`.
        """
        target = file_path("path", path)
        names, values = self._table(_checked(units))
        steps = self.steps

        def write() -> None:
            output_path("path", target)
            text = io.StringIO()
            text.write(",".join(["step", *names]) + "\n")
            for step, row in zip(steps.tolist(), values.tolist(), strict=True):
                text.write(",".join([str(step), *map(repr, row)]) + "\n")
            write_text(target, text.getvalue())

        simulation_of(self.solver).processes.on_first(write)
        return target

    def to_xarray(self, units: Units | None = None) -> xarray.Dataset:
        """A dataset with the axis ``step`` and those of each field, with coordinates.

        Args:
            units: for physical values, coordinates and times; lattice units if None.

        Raises:
            ImportError: xarray is not there.
            TypeError: `units` are no `Units`.
        """
        try:
            import xarray
        except ImportError as error:
            raise ImportError(f"datasets need xarray ({error}): pip install 'lbmgpu[xarray]'") from None
        units = _checked(units)
        length = 1.0 if units is None else units.cell_phys
        coordinates: dict[str, Any] = {"step": self.steps}
        if units is not None:
            coordinates["time"] = ("step", self.steps * units.step_phys, {"units": "s"})
        for name, (dims, values) in self._coordinates().items():
            is_length = name in (*AXES, "distance")
            more = {"units": "m"} if units is not None and is_length else {}
            coordinates[name] = (dims, np.asarray(values) * length if is_length else values, more)
        variables = {}
        for field in self.fields:
            unit = None if units is None else self._unit(field)
            attributes = {"units": unit.physical} if unit is not None and unit.physical else {}
            variables[field] = (("step", *self._dims(field)), self[field] * _scale(unit, units), attributes)
        return xarray.Dataset(variables, coordinates)

    def _table(self, units: Units | None) -> tuple[list[str], Floats]:
        """The names of the columns, and the numbers of all samples."""
        names: list[str] = []
        columns: list[Floats] = []
        if units is not None:
            names.append("time")
            columns.append(np.asarray(self.steps[:, None] * units.step_phys, np.float64))
        for field in self.fields:
            values = self[field]
            scale = _scale(self._unit(field), units)
            columns.append(values.reshape(len(values), math.prod(values.shape[1:])) * scale)
            names += [self._column(field, index) for index in np.ndindex(*values.shape[1:])]
        return names, np.hstack(columns)

    def _column(self, field: str, index: tuple[int, ...]) -> str:
        """The name of a column: the field, the letter of its component, the numbers of its points."""
        words = [field]
        for dim, place in zip(self._dims(field), index, strict=True):
            axes = AXES if dim != "torque_axis" or self._dimensions == 3 else "z"
            words.append(axes[place] if dim in ("component", "torque_axis") else str(place))
        return "_".join(words)

    # Recording

    def attach(self, solver: Solver) -> None:
        self._dimensions = len(solver.domain.shape)
        self._steps, self._rows = [np.empty(0, np.int64)], [np.empty((0, self._width))]

    def detach(self) -> None:
        if self._sampler is not None:
            self._sampler.remove()
            self._sampler = None

    def state_was_set(self, solver: Solver) -> None:
        self._complete_here()
        left = self._steps[0] <= (solver.steps if solver.steps > 0 else -1)
        self._steps, self._rows = [self._steps[0][left]], [self._rows[0][left]]

    def flush(self) -> None:
        if simulation_of(self.solver).processes.size > 1 and sys.exc_info()[0] is not None:
            return  # this process may leave the run alone, and the others would be waited for
        self._complete_here()

    def kept(self) -> dict[str, Array]:
        self._complete_here()
        return {"steps": self._steps[0], "values": self._rows[0], **self._signature()}

    def check_kept(self, kept: dict[str, NDArray[Any]], steps: int) -> None:
        own = self._signature()
        if set(kept) != {"steps", "values", *own}:
            raise ValueError(f"it has {sorted(kept)}, not {sorted({'steps', 'values', *own})}")
        for key, array in own.items():
            if kept[key].shape != array.shape or kept[key].tobytes() != array.tobytes():  # NaN is what it is too
                raise ValueError(f"{key}: differs from what the checkpoint has")
        after, rows = kept["steps"], kept["values"]
        if after.dtype != np.int64 or after.ndim != 1 or (after < 0).any() or (np.diff(after) <= 0).any():
            raise ValueError("its steps are not integers in order")
        if after.size and after[-1] > steps:
            raise ValueError(f"it has a sample of step {after[-1]}, later than the state of step {steps}")
        if rows.dtype != np.float64 or rows.shape != (len(after), self._width):
            raise ValueError("its values are not as many as they must be")
        self._check_schedule(after, steps)

    def _check_schedule(self, after: NDArray[np.int64], steps: int) -> None:
        """Raise ValueError where samples of this recorder would not follow the kept ones at one distance."""
        if after.size and ((np.diff(after) != self.every).any() or not self.is_due(int(after[0]))):
            raise ValueError(
                f"it has samples of other steps than those of every={self.every} and start={self.start}; record it "
                "alike, or by another name="
            )
        if after.size and self.next_after(int(after[-1])) <= steps:
            raise ValueError(
                f"it was not recorded from step {after[-1]} to step {steps}, which have samples due; begin anew by "
                "another name="
            )

    def restore(self, kept: dict[str, NDArray[Any]]) -> None:
        self._complete_here()
        self._steps, self._rows = [kept["steps"]], [kept["values"]]

    @property
    def _width(self) -> int:
        return sum(math.prod(shape) for shape in self._shapes().values())

    def _append(self, step: int, row: Floats) -> None:
        """Add a sample that was taken by Python."""
        self._steps.append(np.array([step], np.int64))
        self._rows.append(np.asarray(row, np.float64).reshape(1, self._width))

    def _complete(self) -> None:
        """Bring over what was recorded; where that takes all processes, they call this together."""
        simulation = simulation_of(self.solver)
        if self._sampler is not None and self._sampler.pending and simulation.processes.meeting is not None:
            with together(simulation.processes, f"reading {self.name}", {}, lambda: simulation.steps):
                self._complete_here()
        else:
            self._complete_here()

    def _complete_here(self) -> None:
        if self._sampler is not None:
            with simulation_of(self.solver).lock:
                steps, values = self._sampler.take()
            self._steps.append(steps)
            self._rows.append(self._reduced(values.reshape(len(steps), -1)) if len(steps) else self._rows[0][:0])
        if len(self._steps) > 1:
            self._steps, self._rows = [np.concatenate(self._steps)], [np.concatenate(self._rows)]

    def _reduced(self, rows: Floats) -> Floats:
        """Rows of a sample of what the engine has recorded."""
        return rows


def _scale(unit: Unit | None, units: Units | None) -> float:
    """The physical size of the lattice unit; 1 without `units`, or for a number without a unit."""
    return 1.0 if unit is None or units is None else unit.scale(units)


def _checked(units: Any) -> Units | None:
    """Units or None; raises TypeError for others."""
    if units is not None and not isinstance(units, Units):
        raise TypeError(f"units: {checks.shown(units)} given, must be lbm.Units(...) or None")
    return units
