"""Initial states from files: NumPy's, HDF5 files with the fields by their names, and checkpoints."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..files.regular_files import file_path, regular_file

FIELDS = ("density", "velocity", "temperature")
"""What an initial state has."""
SUFFIXES = (".npy", ".npz", ".h5", ".hdf5")


def read(path: str | os.PathLike[str], field: str | None = None) -> dict[str, NDArray[Any]]:
    """The fields of a file, for ``solver.initialize(**lbm.flows.read("state.npz"))``.

    Args:
        path: of the file. ``.npy`` holds one array; ``.npz`` and ``.h5`` (``.hdf5``) arrays named ``density``,
            ``velocity`` and ``temperature``, or some of them, indexed as everywhere: ``(D, nx, ny[, nz])`` and
            ``(nx, ny[, nz])``. An ``.h5`` may be a checkpoint of any setup, whose fields these are. Each process reads
            all of it, but for ``.npy``, of which a solver takes what it needs.
        field: the one that is wanted, and the name of that in an ``.npy``; all that there are if None.

    Raises:
        ValueError: not such a file, or without the field; `CheckpointError` for a damaged checkpoint.
        FileNotFoundError: there is none.
    """
    source = file_path("path", path)
    field = None if field is None else checks.choice("field", field, FIELDS)
    if source.suffix not in SUFFIXES:
        raise ValueError(f"path: {source} given, must end in {checks.alternatives(SUFFIXES)}")
    if source.suffix == ".npy" and field is None:
        raise ValueError(f"field: None given for {source}, must be {checks.alternatives(FIELDS)}: it has no names")
    with regular_file("path", source) as file:  # refuses devices and pipes before any reader waits for them
        if source.suffix in (".npy", ".npz"):
            found = _of_numpy(source, file, field)
    if source.suffix in (".h5", ".hdf5"):
        found = _of_hdf5(source)
    if field is not None:
        found = {name: array for name, array in found.items() if name == field}
    if not found:
        wanted = field or checks.alternatives(FIELDS)
        raise ValueError(f"path: {source} holds no array named {wanted}")
    for name, array in found.items():
        if array.dtype.kind not in "iuf":
            raise ValueError(f"path: {name} in {source} is of {array.dtype}, must be real numbers")
    return found


def _of_numpy(source: Path, file: Any, field: str | None) -> dict[str, NDArray[Any]]:
    """The arrays of a file of `numpy.save`, of which nothing is read yet, or of `numpy.savez`."""
    try:
        if field is not None and source.suffix == ".npy":
            return {field: np.load(source, mmap_mode="r", allow_pickle=False)}
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in FIELDS if name in arrays}
    except Exception as error:  # NumPy's and zipfile's readers raise whatever the bytes lead them to
        text = str(error).split("\n")[0][:200]
        raise ValueError(f"path: {source} cannot be read as a file of NumPy ({text})") from None


def _of_hdf5(source: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an HDF5 file, or the fields of a checkpoint."""
    import h5py  # takes a while to be loaded

    from ..io.checkpoint_writer import FORMAT

    try:
        with h5py.File(source, "r") as file:
            kind = file.attrs.get("format")
            if (kind.decode() if isinstance(kind, bytes) else kind) != FORMAT:
                here = [name for name in FIELDS if isinstance(file.get(name, getlink=True), h5py.HardLink)]
                return {name: file[name][...] for name in here if isinstance(file[name], h5py.Dataset)}
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ValueError(f"path: {source} cannot be read as HDF5 ({error})") from None
    return _of_checkpoint(source)


def _of_checkpoint(source: Path) -> dict[str, NDArray[Any]]:
    from ..solver import Solver, simulation_of

    solver = Solver.load(source, device="cpu")
    found = {"density": solver.density(), "velocity": solver.velocity()}
    if simulation_of(solver).has_temperature:
        found["temperature"] = solver.temperature()
    return found
