"""What the files of a series have in common, and the list of its frames, which is a file too."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.atomic_write import naming, write_text
from ..files.regular_files import read_text
from ..files.strict_json import parsed
from ..solver.field_units import FIELD_UNITS, unit_of
from ..units import Units
from .series_chunks import encoded
from .series_selection import AXES, Piece, Selection

LIST_NAME = "series.json"
_OWN_FILES = re.compile(rf"\d{{12}}(\.\d+)?\.(vtkhdf|vti|pvti)|solid\.\d+\.\d+\.vtkhdf|{re.escape(LIST_NAME)}")
MAX_LIST_BYTES = 2**28
_FORMAT = "lbmgpu series"
_VERSION = 1

Frame = dict[str, list[tuple[Piece, NDArray[Any]]]]
"""The pieces of this process of each field, with components first and x, y, z as everywhere."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What all frames have in common.

    Attributes:
        target: the path of the series without an ending.
        selection: the cells.
        fields: the number of components of each by name, 0 for a field without an axis of components.
        dtype: of the files.
        units: of values, lengths and times; None for lattice units.
        level: of the compression, 0 for none.
        threads: that compress.
    """

    target: Path
    selection: Selection
    fields: dict[str, int]
    dtype: np.dtype[Any]
    units: Units | None
    level: int
    threads: int

    @property
    def spacing(self) -> float:
        """The length of a cell of the domain in the units of the files."""
        return 1.0 if self.units is None else self.units.cell_phys

    def time(self, step: int) -> float:
        """The time after a number of steps, in the units of the files."""
        return float(step) if self.units is None else float(self.units.time_phys(step))

    def component_axis(self, name: str) -> list[str]:
        """The name of the axis of a field's components, for xarray, if it has one."""
        components = self.fields.get(name, 0)
        vectors = "component" if components == len(self.selection.counts) else f"{name}_component"
        return [vectors] if components else []

    def converted(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """A field in the units, the type and the order of the files: axes z, y, x and components, contiguous."""
        scale = 1.0 if self.units is None else FIELD_UNITS[name].scale(self.units)
        try:
            with np.errstate(over="raise"):
                scaled = values.T if scale == 1.0 else values.T * scale
                return np.ascontiguousarray(scaled, dtype=self.dtype)
        except FloatingPointError:
            largest = float(np.nanmax(np.abs(values))) * scale
            raise ValueError(
                f"precision: {self.dtype.name!r} given, but {name!r} has {largest:.4g}, "
                f"which must be at most {np.finfo(self.dtype).max:.4g}"
            ) from None

    def chunks(self, values: NDArray[Any], chunk: tuple[int, ...]) -> list[tuple[tuple[int, ...], bytes]]:
        """The corner and the bytes of each chunk of an array of the files."""
        if self.threads == 1 or self.level == 0:
            return list(encoded(values, chunk, self.level, map))
        with ThreadPool(self.threads) as pool:
            return list(encoded(values, chunk, self.level, pool.imap))

    def properties(self, file_format: str) -> dict[str, Any]:
        """What a series that is continued must have in common with this one, for JSON."""
        return {
            "format": file_format,
            "compression": self.level if file_format == "zarr" else None,  # of all chunks; other files say their own
            "fields": list(self.fields.items()),
            "precision": self.dtype.name,
            "domain": list(self.selection.shape),
            "cells": [
                f"{axis.start}:{axis.start + axis.count * axis.step}:{axis.step}" if not axis.is_single else axis.start
                for axis in self.selection.axes
            ],
            "cell_phys": None if self.units is None else self.units.cell_phys,
            "step_phys": None if self.units is None else self.units.step_phys,
            "density_phys": None if self.units is None else self.units.rho_phys,
        }


class FilesOfPieces:
    """What formats have in common whose frames have a file for each piece, which its rank writes, in a folder.

    Attributes:
        folder: of the frames.
        index: the file that is opened, beside the folder.
    """

    suffix: str
    gathers = False

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.folder = plan.target
        self.index = plan.target.with_name(f"{plan.target.name}{self.suffix}")


@dataclasses.dataclass
class FrameList:
    """The frames of a series, in the order of time.

    Attributes:
        cuts: the ways in which the cells were cut into pieces: number, offset and count of each piece.
        frames: the step of each frame, and the number of its cut.
    """

    cuts: list[list[tuple[int, list[int], list[int]]]] = dataclasses.field(default_factory=list)
    frames: list[tuple[int, int]] = dataclasses.field(default_factory=list)

    @property
    def steps(self) -> list[int]:
        """The steps of all frames."""
        return [step for step, _ in self.frames]

    def cut(self, pieces: list[tuple[int, list[int], list[int]]]) -> int:
        """The number of a cut, which is added if it is new."""
        if pieces not in self.cuts:
            self.cuts.append(pieces)
        return self.cuts.index(pieces)

    def add(self, step: int, cut: int) -> None:
        """A frame that is whole; one of the same step is replaced."""
        self.frames = sorted([*(frame for frame in self.frames if frame[0] != step), (step, cut)])

    def drop(self, after: int) -> list[tuple[int, int]]:
        """Take out the frames of more than `after` steps, and return them."""
        dropped = [frame for frame in self.frames if frame[0] > after]
        self.frames = [frame for frame in self.frames if frame[0] <= after]
        return dropped

    def write(self, folder: Path, properties: dict[str, Any]) -> None:
        """Write it to a folder, with what all frames have in common."""
        head = {"file": _FORMAT, "version": _VERSION, "series": properties}
        write_text(folder / LIST_NAME, json.dumps({**head, "cuts": self.cuts, "frames": self.frames}) + "\n")

    @classmethod
    def read(cls, folder: Path, properties: dict[str, Any]) -> FrameList | None:
        """The list in a folder; None if the folder has none.

        Raises:
            ValueError: it is of another series, or no such list.
        """
        if not (folder / LIST_NAME).exists():
            return None
        known, frames = read_list(folder)
        for name, value in json.loads(json.dumps(properties)).items():
            if known.get(name) != value:
                raise ValueError(
                    f"path: {folder} has another series, with {name} {known.get(name)}, must be {value}; give another "
                    "path, or overwrite=True to delete it"
                )
        return frames


def read_list(folder: Path) -> tuple[dict[str, Any], FrameList]:
    """What the frames of the series in a folder have in common, as `Plan.properties` gives it, and their list.

    Raises:
        ValueError: its file is no such list.
        FileNotFoundError: the folder has none.
    """
    path = folder / LIST_NAME
    with naming(path):
        text = read_text("path", path, at_most=MAX_LIST_BYTES)
    try:
        found = parsed(text)
        if found["file"] != _FORMAT or found["version"] != _VERSION:
            raise ValueError("of another version")
        known = found["series"]
        if not isinstance(known, dict):
            raise ValueError("without a description")
        cuts = [[(int(n), list(map(int, a)), list(map(int, b))) for n, a, b in cut] for cut in found["cuts"]]
        frames = sorted((int(step), int(cut)) for step, cut in found["frames"])
        if any(not 0 <= cut < len(cuts) for _, cut in frames):
            raise ValueError("a frame of no cut")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"path: {path} is not the list of a series that this version can read ({error})") from None
    return known, FrameList(cuts, frames)


def delete_files(folder: Path) -> None:
    """Delete the files of a series of any format in its folder, and nothing else."""
    for path in folder.iterdir():
        if (path / ".zarray").is_file():
            shutil.rmtree(path)
        elif _OWN_FILES.fullmatch(path.name):
            path.unlink()


def coordinates(plan: Plan) -> dict[str, NDArray[np.float64]]:
    """The coordinates of the cell centres along each axis, in the units of the files."""
    return {name: axis.centres * plan.spacing for name, axis in zip(AXES, plan.selection.axes, strict=False)}


def plan_of(target: Path, known: dict[str, Any]) -> Plan:
    """The plan of a series that is there, from what `read_list` gives.

    Raises:
        ValueError: it describes none.
    """
    try:
        shape = tuple(int(n) for n in known["domain"])
        cells = [part if isinstance(part, int) else [int(n) for n in part.split(":")] for part in known["cells"]]
        region = tuple(
            part if isinstance(part, int) else slice(part[0], min(part[1], n), part[2])
            for part, n in zip(cells, shape, strict=True)
        )
        fields = {name: int(components) for name, components in known["fields"]}
        scales = [known[name] for name in ("cell_phys", "step_phys", "density_phys")]
        units = None
        if scales != [None] * 3:
            units = Units(length_phys=scales[0], time_phys=scales[1], density_phys=scales[2])
        kind = np.dtype(known["precision"])
        return Plan(target, Selection(region, 1, shape), fields, kind, units, known["compression"] or 0, 1)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError(f"path: {target} has no series that this version can read ({error})") from None


def attributes(plan: Plan) -> dict[str, Any]:
    """What a dataset says of its units."""
    if plan.units is None:
        return {"units": "lattice"}
    scales = {"cell": plan.units.cell_phys, "step_duration": plan.units.step_phys, "density_scale": plan.units.rho_phys}
    return {"units": "SI", **scales}


def attributes_of(plan: Plan, name: str) -> dict[str, str]:
    """What a dataset says of the units of a field or a coordinate."""
    if name == "step":
        return {"long_name": "steps of the solver"}
    if name == "solid":
        return {"long_name": "whether the cell is in a body"}
    if name == "time":
        return {"units": "steps" if plan.units is None else "s"}
    if name in AXES:
        return {"units": "cells" if plan.units is None else "m", "long_name": f"{name} of the cell's centre"}
    return {"units": unit_of(name, plan.units)}
