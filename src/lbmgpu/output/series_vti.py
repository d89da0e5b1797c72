"""Frames as VTK images, with a list of them in time that ParaView opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..files.atomic_write import replacing
from ..io.vtk import write_image, write_image_index
from .series_plan import FilesOfPieces, Frame, FrameList, Plan
from .series_selection import Piece


class VtiFiles(FilesOfPieces):
    """The files of a series in this format: see `Series`."""

    suffix = ".pvd"

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._solid: dict[int, NDArray[Any]] = {}
        axes, cell = plan.selection.axes, plan.spacing
        x, y, z = [*(axis.origin * cell for axis in axes), 0.0][:3]
        self._origin = (x, y, z)
        x, y, z = [*(axis.step * cell for axis in axes), cell][:3]
        self._spacing = (x, y, z)

    def frame_files(self, step: int, pieces: list[int]) -> list[Path]:
        """The files of a frame, whose pieces have these numbers."""
        return [self.folder / f"{step:012d}.{piece}.vti" for piece in pieces] + [self._whole(step)]

    def is_frame(self, path: Path) -> bool:
        """Whether a file of the folder may be of a frame, by its name."""
        parts = path.name.split(".")
        return parts[0].isdigit() and parts[-1] in ("vti", "pvti") and len(parts) in (2, 3)

    def write_solid(self, cut: int, solid: list[tuple[Piece, NDArray[Any]]]) -> None:
        """Keep which cells are solid: each image has them."""
        self._solid = {piece.number: np.ascontiguousarray(cells.T, dtype=np.uint8) for piece, cells in solid}

    def write_frame(self, step: int, position: int, frame: Frame) -> None:
        """Write the images of the pieces of this process."""
        for number, (piece, _) in enumerate(next(iter(frame.values()), [])):
            fields = {}
            for name, pieces in frame.items():
                values = self._plan.converted(name, pieces[number][1])
                if self._plan.fields[name] == 2 and len(piece.count) == 2:
                    values = np.concatenate([values, np.zeros_like(values[..., :1])], axis=-1)
                fields[name] = values
            fields["solid"] = self._solid[piece.number]
            path = self.folder / f"{step:012d}.{piece.number}.vti"
            write_image(path, piece.offset, fields, self._origin, self._spacing)

    def write_index(self, frames: FrameList) -> None:
        """Write the list of these frames; without one there is none."""
        if not frames.frames:
            self.index.unlink(missing_ok=True)
            return
        root = ElementTree.Element("VTKFile", type="Collection", version="1.0", byte_order="LittleEndian")
        collection = ElementTree.SubElement(root, "Collection")
        components = {name: (self._plan.dtype.name, max(1, count)) for name, count in self._plan.fields.items()}
        components["solid"] = ("uint8", 1)
        if len(self._plan.selection.counts) == 2:
            components = {name: (kind, 3 if count == 2 else count) for name, (kind, count) in components.items()}
        for step, cut in frames.frames:
            whole = self._whole(step)
            if not whole.exists():
                pieces = [(tuple(a), tuple(n), f"{step:012d}.{k}.vti") for k, a, n in frames.cuts[cut]]
                counts = self._plan.selection.counts
                write_image_index(whole, counts, components, pieces, self._origin, self._spacing)
            time = repr(self._plan.time(step))
            file = f"{self.folder.name}/{whole.name}"
            ElementTree.SubElement(collection, "DataSet", timestep=time, group="", part="0", file=file)
        with replacing(self.index) as temporary:
            ElementTree.ElementTree(root).write(temporary, encoding="utf-8", xml_declaration=True)

    def _whole(self, step: int) -> Path:
        """The file that names the pieces of a frame."""
        return self.folder / f"{step:012d}.pvti"
