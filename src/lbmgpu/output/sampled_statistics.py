"""What all statistics of fields have: which states they are of, how they are read, kept and restored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..engine.simulation import Simulation
from ..io.checkpoint_recorders import Array, OfCells
from ..solver import simulation_of
from ..solver.recording import Recorder
from ..values import Floats
from . import memory_needs
from .axis_means import AxisMeans, axes_of, own_cells
from .batches import Batches
from .cell_samples import ArraySamples, EngineSamples, slot_name, with_means
from .memory_needs import DOUBLE

if TYPE_CHECKING:
    import xarray

    from ..solver import Solver

AXES = "xyz"
Key = str | tuple[str, str]
"""A field, or two of them."""


class SampledField:
    """A field that is a number times quantities of the engine's samples, plus a number."""

    def __init__(self, quantities: list[int], scale: float = 1.0, offset: float = 0.0, scalar: bool = True) -> None:
        self.quantities, self.scale, self.offset, self.scalar = quantities, scale, offset, scalar

    @classmethod
    def of(cls, simulation: Simulation, name: str) -> SampledField | None:
        """That of a name; None for one that the engine does not sample."""
        if name == "velocity":
            return cls([1 + d for d in range(simulation.stencil.D)], scalar=False)
        if name == "density":
            return cls([0], offset=1.0)
        if name == "temperature":
            return cls([4], offset=simulation.reference_temperature)
        if name == "pressure" and not simulation.model.carries_temperature:
            return cls([0], scale=simulation.stencil.cs2)
        return None


class Statistics(Recorder):
    """What all statistics have: which states they are of, and how their numbers are read.

    Subclasses are `Mean`, `Covariance`, `Minimum` and `Maximum`.
    """

    def __init__(
        self, keys: tuple[Key, ...], over: str | None, batches: int | None, every: int, start: int, name: str | None
    ) -> None:
        super().__init__(every, start, name)
        if over is not None:
            axes_of(over, 3)
        if not keys:
            raise TypeError(f"fields: none given, must be one or more, such as {type(self).__name__}('velocity')")
        self._keys = tuple(dict.fromkeys(keys))
        self._over = over
        self._first = 0
        self._engine: EngineSamples | None = None
        self._arrays: ArraySamples | None = None
        self._axes: AxisMeans | None = None
        self._batches = None if batches is None else Batches(batches)
        self._sampled: dict[str, SampledField] = {}
        self._slots: set[int] = set()

    # What a subclass implements

    def _slots_of(self, key: Key) -> set[int]:
        """The slots of a field that the engine samples."""
        raise NotImplementedError

    def _arrays_of(self, keys: list[Key]) -> ArraySamples:
        """The samples of fields that it does not sample."""
        raise NotImplementedError

    def _read(self, key: Key) -> Floats:
        """The statistics of a field of this process's window, or over the axes."""
        raise NotImplementedError

    # What the loop calls

    def attach(self, solver: Solver) -> None:
        """See `Recorder.attach`."""
        simulation = simulation_of(solver)
        names = {name for key in self._keys for name in ((key,) if isinstance(key, str) else key)}
        if "temperature" in names and not simulation.has_temperature:
            raise ValueError("fields: 'temperature' given, but the solver has none; Solver(thermal=...) has one")
        axes = None if self._over is None else axes_of(self._over, len(simulation.domain.shape))
        found = {name: SampledField.of(simulation, name) for name in names}
        self._sampled = {name: field for name, field in found.items() if field is not None}
        others = [key for key in self._keys if not self._is_sampled(key)]
        for key in others:
            for name in (key,) if isinstance(key, str) else key:
                if not hasattr(solver, name):
                    raise ValueError(f"fields: {name!r} given, but this solver has no such field")
        self._simulation = simulation
        self._axes = None if axes is None else AxisMeans(simulation, axes)
        self._arrays = self._arrays_of(others) if others else None
        self._slots = set().union(*(self._slots_of(key) for key in self._keys if self._is_sampled(key)))
        self._check_memory()
        if self._slots:
            self._engine = EngineSamples.joined(simulation, self.every, self.start, 0, self, self._slots)
        self.sampled_by_engine = self._arrays is None and self._batches is None
        self._first = super().next_after(solver.steps)

    def _check_memory(self) -> None:
        """Raise TooLittleMemoryError where the numbers of cells do not fit the devices, or those of NumPy the host."""
        simulation = self._simulation
        slots = EngineSamples.new_slots(simulation, self.every, self.start, self._slots) if self._slots else ()
        cells = memory_needs.cells_of_devices(simulation)
        needs = {device: DOUBLE * len(slots) * count for device, count in cells.items()}
        names = {name for key in self._keys for name in ((key,) if isinstance(key, str) else key)}
        dimensions = len(simulation.domain.shape)
        components = {name: memory_needs.components_of(name, dimensions) for name in names}
        on_host = 0 if self._arrays is None else self._arrays.numbers(components)
        if self._batches is not None and self._axes is None:
            on_host += 2 * self._batches.count * sum(components.values())
        needs["cpu"] = needs.get("cpu", 0) + DOUBLE * on_host * memory_needs.window_cells(simulation)
        hint = "fewer fields need less" if self._batches is None else "fewer fields, or batches, need less"
        memory_needs.check(simulation, self.name, needs, hint)

    def detach(self) -> None:
        """See `Recorder.detach`."""
        if self._engine is not None:
            self._engine.leave(self._simulation, self)
            self._engine = None

    def _is_sampled(self, key: Key) -> bool:
        return all(name in self._sampled for name in ((key,) if isinstance(key, str) else key))

    def sample(self, solver: Solver) -> None:
        """See `Recorder.sample`: what the engine does not do by itself."""
        if self._arrays is not None:
            fields = {name: getattr(solver, name)() for name in self._arrays.fields}
            self._arrays.add(fields, len(self._simulation.domain.shape))
        if self._batches is not None and self.samples == self._batches.next_end(self.samples - 1):
            self._batches.add(self.samples, {str(key): self._read(key) for key in self._keys})

    def next_after(self, step: int) -> int:
        """See `Recorder.next_after`; where the engine samples by itself, the end of the next batch."""
        if self._arrays is not None or self._batches is None or self._solver is None:
            return super().next_after(step)
        samples = 0 if step < self._first else (step - self._first) // self.every + 1
        return self._first + (self._batches.next_end(samples) - 1) * self.every

    def is_due(self, step: int) -> bool:
        """See `Recorder.is_due`."""
        return step >= self._first and self.next_after(step - 1) == step

    def state_was_set(self, solver: Solver) -> None:
        """See `Recorder.state_was_set`: the statistics begin anew."""
        self._forget()
        self._first = super().next_after(solver.steps)

    def _forget(self) -> None:
        if self._engine is not None:
            self._engine.core.reset()
        if self._arrays is not None:
            self._arrays.clear()
        if self._batches is not None:
            self._batches.clear()

    # What users read

    @property
    def samples(self) -> int:
        """How many states have been sampled."""
        if self._engine is not None:
            return self._engine.core.samples
        return 0 if self._arrays is None else self._arrays.count

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps after which they were sampled, ``(samples,)``."""
        return np.asarray(self._first + self.every * np.arange(self.samples, dtype=np.int64))

    @property
    def fields(self) -> tuple[Key, ...]:
        """The fields, or pairs of them, that this is of."""
        return self._keys

    def __getitem__(self, field: Key) -> Floats:
        """The statistics of a field, see `read`."""
        return np.asarray(self.read(field))

    def read(self, field: Key, gather: bool = False) -> Any:
        """The statistics of a field in float64, with the axes of the field: ``(component, x, y[, z])``.

        With `over` without those axes, the same on all ranks. All ranks call it together.

        Args:
            field: one of `fields`.
            gather: of several processes: the whole domain on rank 0 and None elsewhere, in place of each one's
                `window`, in which cells of other processes are NaN.

        Raises:
            ValueError: not one of the fields, or no sample has been taken yet.
        """
        key = self._checked(field)
        gather = checks.flag("gather", gather)
        if self.samples == 0:
            first = f"the first one is that after step {self._first}"
            raise ValueError(f"{self.name}: no sample has been taken yet; {first}")
        with self.solver.paused():
            values = self._read(key)
            return self._gathered(values) if gather and self._axes is None else values

    def to_xarray(self) -> xarray.Dataset | None:
        """A dataset of all fields in lattice units, with the coordinates of the centres of cells, in cells.

        All ranks call it together; without `over` rank 0 has the dataset of the whole domain, and the others None. A
        pair of fields is named by both, such as ``velocity_temperature``.

        Raises:
            ImportError: xarray is not there.
            ValueError: no sample has been taken yet.
        """
        try:
            import xarray
        except ImportError as error:
            raise ImportError(f"datasets need xarray ({error}): pip install 'lbmgpu[study]'") from None
        found = {"_".join(np.atleast_1d(key).tolist()): self.read(key, gather=True) for key in self._keys}
        if any(values is None for values in found.values()):
            return None
        gone = () if self._axes is None else self._axes.axes
        left = [
            (axis, n)
            for d, (axis, n) in enumerate(zip(AXES, self._simulation.domain.shape, strict=False))
            if d not in gone
        ]
        variables = {}
        for name, values in found.items():
            lead = [f"component_{k}_of_{n}" for k, n in enumerate(values.shape[: values.ndim - len(left)], 1)]
            variables[name] = ((*lead, *(axis for axis, _ in left)), values)
        coordinates = {axis: np.arange(n) + 0.5 for axis, n in left}
        return xarray.Dataset(variables, coordinates, {"samples": self.samples, "steps": self.steps[[0, -1]]})

    def _checked(self, field: Any) -> Key:
        _ = self.solver  # which raises where there is none
        if field not in self._keys:
            known = ", ".join(map(repr, self._keys))
            raise ValueError(f"field: {checks.shown(field)} given, must be one of the keys [{known}]")
        return field  # type: ignore[no-any-return]

    # What a checkpoint keeps

    def kept(self) -> dict[str, Array]:
        """See `Recorder.kept`: what is of each cell in parts."""
        found: dict[str, Array] = {"samples": np.array([self.samples, self._first, self.every, self.start], np.int64)}
        for slot in sorted(with_means(self._slots)):
            found[slot_name(slot)] = OfCells((), partial(self._component_of, slot))
        dimensions = len(self._simulation.domain.shape)
        if self._arrays is not None:
            found |= {name: OfCells.of(array, dimensions) for name, array in self._arrays.arrays.items()}
        if self._batches is not None:
            found |= self._batches.kept(dimensions if self._axes is None else None)
            found["batch count"] = np.array([self._batches.count], dtype=np.int64)
            found["batch axes"] = np.array(() if self._axes is None else self._axes.axes, dtype=np.int64)
        return found

    def _component_of(self, slot: int, index: tuple[int, ...]) -> Floats:
        """The only component of a slot."""
        with self._simulation.lock:
            return self._slot(slot)

    def check_kept(self, kept: dict[str, NDArray[Any]], steps: int) -> None:
        """See `Recorder.check_kept`."""
        samples, first, every, start = _checked_numbers(kept)
        if (every, start) != (self.every, self.start):
            given = f"every={every}, start={start}"
            raise ValueError(f"{self.name}: was kept with {given}, but is recorded with {self!r}; record it alike")
        lacking = [slot_name(slot) for slot in with_means(self._slots) if slot_name(slot) not in kept]
        if lacking:
            raise ValueError(f"{self.name}: no {lacking[0]} is kept, as it was of other fields; record it alike")
        due = 0 if steps < first else (steps - first) // every + 1
        if samples != due:
            reason = f"{samples} samples were kept, but {due} were due by step {steps}"
            raise ValueError(f"{self.name}: {reason}, as it was not recorded all the time; begin anew by another name=")
        self._check_batches(kept)
        shape = self._simulation.subdomain.window[1]
        of_cells = [slot_name(slot) for slot in with_means(self._slots)]
        if self._arrays is not None and samples > 0:
            of_cells += self._arrays.names
        for name in of_cells:
            array = kept[name]
            if array.dtype != np.float64 or array.shape[array.ndim - len(shape) :] != shape:
                raise ValueError(f"{name} is {array.dtype} of the shape {array.shape}, not float64 of {shape}")

    def restore(self, kept: dict[str, NDArray[Any]]) -> None:
        """See `Recorder.restore`."""
        samples, first, every, start = _checked_numbers(kept)
        simulation = self._simulation
        with simulation.lock:
            self._forget()
            self._first = first
            if self._engine is not None:
                self._engine.leave(simulation, self)
                self._engine = EngineSamples.joined(simulation, every, start, samples, self, self._slots)
                for slot in with_means(self._slots):
                    self._engine.core.set(slot, np.ascontiguousarray(kept[slot_name(slot)].T))
            if self._arrays is not None:
                self._arrays.count = samples
                names = self._arrays.names if samples > 0 else []
                self._arrays.arrays = {name: np.array(kept[name]) for name in names}
            if self._batches is not None:
                self._batches.restore({n: a for n, a in kept.items() if n.startswith("batch")})

    def _check_batches(self, kept: dict[str, NDArray[Any]]) -> None:
        """Refuse batches of other means or of another number, as they would make wrong intervals."""
        found: tuple[str | None, int | None] = (None, None)
        if "batch length" in kept:
            axes = "".join("xyz"[int(axis)] for axis in kept["batch axes"])
            found = (axes or None, int(kept["batch count"][0]))
        own: tuple[str | None, int | None] = (None, None)
        if self._batches is not None:
            axes = "" if self._axes is None else "".join("xyz"[axis] for axis in self._axes.axes)
            own = (axes or None, self._batches.count)
        if found != own:
            was, given = (f"over={over!r}, batches={batches}" for over, batches in (found, own))
            raise ValueError(
                f"{self.name}: was kept with {was}, but is recorded with {given}; record it alike, or by another name="
            )
        if self._batches is not None:
            self._batches.check_kept(kept, list(map(str, self._keys)), self._means_shape())

    def _means_shape(self) -> tuple[int, ...]:
        """The shape of a mean of this process, without the axis of components."""
        return self._simulation.subdomain.window[1] if self._axes is None else self._axes.counts.shape

    # Arrays of this process's window

    def _slot(self, slot: int) -> Floats:
        """The numbers of a slot, NaN for cells of other processes."""
        assert self._engine is not None
        numbers = self._engine.core.get(slot).T
        if self._simulation.processes.size > 1:
            numbers[~own_cells(self._simulation.subdomain)] = np.nan
        return numbers

    def _part(self, whole: NDArray[Any]) -> NDArray[Any]:
        subdomain = self._simulation.subdomain
        return subdomain.cut(whole, subdomain.window)

    def _gathered(self, values: Floats) -> Any:
        simulation = self._simulation
        dimensions = len(simulation.domain.shape)
        lead = values.shape[: values.ndim - dimensions]
        flat = values.reshape(-1, *values.shape[len(lead) :])
        reversed_axes = (0, *range(dimensions, 0, -1))
        part = np.ascontiguousarray(flat.transpose(reversed_axes))
        whole = simulation.processes.gathered(simulation.layout, part, simulation.engine.window)
        return None if whole is None else whole.transpose(reversed_axes).reshape(*lead, *simulation.domain.shape)

    def _in_fluid(self, name: str, values: Floats) -> Floats:
        """A field's statistics, with what the field has in solid cells there."""
        if self._simulation.domain.bodies:
            rest = {"density": 1.0, "pressure": 0.0}
            of_solid = rest[name] if name in rest else getattr(self.solver, name)()
            solid = self._part(self._simulation.solid_at_rest())
            values = np.where(solid, of_solid, values)
        return values

    def _of_slots(self, name: str, first: int) -> Floats:
        """The numbers from a slot on of a sampled field's quantities, as numbers of the field."""
        field = self._sampled[name]
        parts = [field.scale * self._slot(first + q) + field.offset for q in field.quantities]
        return parts[0] if field.scalar else np.stack(parts)


def _checked_numbers(kept: dict[str, NDArray[Any]]) -> tuple[int, int, int, int]:
    """The number of samples, the step of the first one, `every` and `start`, as `Statistics.kept` gives them."""
    found = kept["samples"]
    if found.dtype != np.int64 or found.shape != (4,) or (found < 0).any() or found[2] < 1:
        raise ValueError("the number of samples and their steps are not four integers")
    samples, first, every, start = found.tolist()
    return samples, first, every, start
