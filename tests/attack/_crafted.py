"""Builds invalid checkpoints that are well-formed HDF5 with correct digests, one for each kind of wrong content."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lbmgpu.io.chunks import Chunks

Content = dict[str, Any]
"""A crafted file: the manifest, and the arrays by name."""


def content(path: Path) -> Content:
    """What is in a file of version 4."""
    with h5py.File(path) as file:
        manifest = json.loads(file["manifest"][:].tobytes())
        return {"manifest": manifest, "arrays": {name: file[name][()] for name in manifest["datasets"]}}


def write(path: Path, given: Content, edit: Callable[[h5py.File], object] | None = None) -> None:
    """Write a file with right digests of all of it; then `edit` it."""
    manifest = given["manifest"]
    with h5py.File(path, "w", libver="v110") as file:
        for name, array in given["arrays"].items():
            file.create_dataset(name, data=array)
            table = (manifest.get("datasets") or {}).get(name)
            if table is not None and table.get("digests") and not given.get("keep"):
                chunks = Chunks(
                    name, array.shape, array.dtype, (1, *array.shape[1:]) if name == "state" else array.shape
                )
                table |= {"shape": list(array.shape), "dtype": array.dtype.name, "chunk": list(chunks.chunk)}
                flat = array.reshape(-1)
                table["digests"] = [chunks.digest(c, flat[c.start : c.start + c.size]) for c in chunks]
        text = given.get("text", json.dumps(manifest).encode())
        file.create_dataset("manifest", data=np.frombuffer(text, np.uint8))
        file.attrs["format"], file.attrs["version"] = np.bytes_("lbmgpu checkpoint"), 4
        file.attrs["manifest_sha256"] = np.bytes_(hashlib.sha256(text).hexdigest())
        if edit is not None:
            edit(file)


def setting(*keys: str, value: Any) -> Callable[[Content], None]:
    """Sets an entry of the manifest; a value of `...` removes it."""

    def change(given: Content) -> None:
        entry = given["manifest"]
        for key in keys[:-1]:
            entry = entry[key]
        if value is ...:
            del entry[keys[-1]]
        else:
            entry[keys[-1]] = value

    return change


def declared(*keys: str, value: Any) -> Callable[[Content], None]:
    """The same of an entry that is otherwise brought in line with its array."""

    def change(given: Content) -> None:
        setting("datasets", *keys, value=value)(given)
        given["keep"] = True

    return change


def filled(name: str, value: float) -> Callable[[Content], None]:
    """Puts a value at the end of an array, which is of a fluid cell."""

    def change(given: Content) -> None:
        array = given["arrays"][name]
        array.reshape(-1)[-1] = value

    return change


def replaced(
    name: str, make_array: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]
) -> Callable[[Content], None]:
    """Puts another array in the place of one."""

    def change(given: Content) -> None:
        given["arrays"][name] = make_array(given["arrays"][name])

    return change


def text(value: bytes) -> Callable[[Content], None]:
    """Puts another text in the manifest's place."""
    return lambda given: given.update(text=value)


SETUP = ("setup",)
EDITS: dict[str, Callable[[Content], None]] = {
    **{
        f"steps {v!r}": setting("steps", value=v) for v in (-1, 2**53 + 1, 2**63, 10**400, 1.5, True, "7", None, [], {})
    },
    **{f"density {v!r}": setting("reference_density", value=v) for v in (0, -1.0, math.inf, math.nan, "1", None)},
    **{f"streaming {v!r}": setting("streaming", value=v) for v in ("sideways", 3, None, "\0")},
    **{f"version {v!r}": setting("version", value=v) for v in (3, 5, "4", None)},
    **{f"no {key}": setting(key, value=...) for key in ("format", "steps", "streaming", "setup", "datasets")},
    **{
        f"{key} {v!r}": setting(*SETUP, key, value=v)
        for key in ("stencil", "shape", "precision", "storage", "collision", "faces", "bodies", "force", "thermal")
        for v in (None, 3, "x", [], {}, [1, 2, 3], "\0", -1e400, {"array": "state"}, {"array": "nowhere"}, [[]])
        if (key, v) not in (("force", None), ("thermal", None), ("thermal", {}))
    },
    **{
        f"no setup {key}": setting(*SETUP, key, value=...)
        for key in ("stencil", "shape", "precision", "storage", "collision", "faces", "bodies", "force", "thermal")
    },
    **{f"shape {v}": setting(*SETUP, "shape", value=v) for v in ([2**40, 2**40], [9, 2**62], [7, 9], [0, 0], [-9, 7])},
    **{
        f"viscosity {v!r}": setting(*SETUP, "collision", "viscosity", value=v)
        for v in (-1, math.nan, "x", None, 10**400)
    },
    "unknown collision": setting(*SETUP, "collision", "model", value="eval"),
    "a collision's unknown argument": setting(*SETUP, "collision", "__class__", value=1),
    **{
        f"condition {v!r}": setting(*SETUP, "faces", "-x", "condition", value=v)
        for v in ("x", None, 3, [], "isothermal")
    },
    "unknown face": setting(*SETUP, "faces", "-w", value={"condition": "no-slip"}),
    "a face that is none": setting(*SETUP, "faces", "-x", value=None),
    "half periodic": setting(*SETUP, "faces", "-x", value={"condition": "periodic"}),
    "supersonic": setting(*SETUP, "faces", "+y", value={"condition": "moving-wall", "velocity": [9.0, 0.0]}),
    "a body that is none": setting(*SETUP, "bodies", "spinner", value=[]),
    "a body's mask is a number": setting(*SETUP, "bodies", "spinner", "mask", value=1),
    "a body's mask is a velocity": setting(*SETUP, "bodies", "spinner", "mask", value={"array": "bodies.0.velocity"}),
    "a body's velocity is its mask": setting(*SETUP, "bodies", "spinner", "velocity", value={"array": "bodies.0.mask"}),
    "a body's velocity is the force": setting(*SETUP, "bodies", "spinner", "velocity", value={"array": "force"}),
    "two bodies in a place": setting(
        *SETUP, "bodies", "again", value={"condition": "no-slip", "mask": {"array": "bodies.0.mask"}}
    ),
    "a body without a name": setting(
        *SETUP, "bodies", "", value={"condition": "no-slip", "mask": {"array": "bodies.0.mask"}}
    ),
    "diffusivity": setting(*SETUP, "thermal", "diffusivity", value=1e300),
    "thermal unknown": setting(*SETUP, "thermal", "nonsense", value=1),
    "a thermal face": setting(*SETUP, "thermal", "faces", "-x", value={"condition": "no-slip"}),
    "no datasets": setting("datasets", value={}),
    "datasets are none": setting("datasets", value=None),
    "a dataset is none": setting("datasets", "force", value=None),
    **{
        f"state {key} {v!r}": declared("state", key, value=v)
        for key in ("shape", "chunk", "dtype", "digests")
        for v in (None, [], [2**62] * 3, [0, 0, 0], [-1, 7, 9], "x", 3, {}, ["x"] * 9, [[]] * 9, 1e400)
    },
    **{
        f"box {v!r}": setting("datasets", "bodies.0.mask", "box", value=v)
        for v in (None, [], [[0, 0], [9, 7]], [[8, 6], [2, 2]], [[-1, 0], [2, 2]], [[0, 0], [2**40, 2**40]], [[0], [1]])
    },
    "cells of nothing": setting("datasets", "bodies.0.velocity", "cells of", value="nothing"),
    "cells of itself": setting("datasets", "bodies.0.velocity", "cells of", value="bodies.0.velocity"),
    **{
        f"{name} {v}": filled(name, v)
        for name in ("state", "temperature", "force", "source")
        for v in (math.nan, math.inf)
    },
    "a huge force": filled("force", 1e30),
    "a fast wall": filled("faces.+y.velocity", 3.0),
    "a smaller state": replaced("state", lambda a: a[:, :-1].copy()),
    "a state of float64": replaced("state", lambda a: a.astype(np.float64)),
    "a state of integers": replaced("state", lambda a: a.astype(np.int32)),
    "a state of big endians": replaced("state", lambda a: a.astype(">f4")),
    "a mask of nothing": replaced("bodies.0.mask", np.zeros_like),
    "a larger mask": replaced("bodies.0.mask", lambda a: np.ones(1000, np.uint8)),
    "a force of the wrong shape": replaced("force", lambda a: a[:, :-1].copy()),
    "a force of float32": replaced("force", lambda a: a.astype(np.float32)),
    "one array more": lambda given: given["arrays"].update(more=np.zeros(3)),
    "a state less": lambda given: given["arrays"].pop("state"),
    "an empty manifest": text(b"{}"),
    "no JSON": text(b"nonsense"),
    "deep JSON": text(b"[" * 200_000 + b"]" * 200_000),
    "deep objects": text(b'{"a":' * 100_000),
    "no text": text(bytes(range(256))),
    "a long number": text(b'{"steps": ' + b"9" * 100_000 + b"}"),
    "a key twice": text(b'{"format": 1, "format": 2}'),
}


def elsewhere(link: Any) -> Callable[[h5py.File], None]:
    """Replaces the state by a link or a dataset of another kind."""

    def edit(file: h5py.File) -> None:
        values = file["state"][()]
        del file["state"]
        link(file, values)

    return edit


def _external(file: h5py.File, values: np.ndarray[Any, Any]) -> None:
    other = Path(file.filename).with_name("other.bin")
    other.write_bytes(values.tobytes())
    file.create_dataset("state", values.shape, values.dtype, external=[(str(other), 0, h5py.h5f.UNLIMITED)])


def _link_outside(file: h5py.File, values: np.ndarray[Any, Any]) -> None:
    other = Path(file.filename).with_name("other.h5")
    with h5py.File(other, "w") as there:
        there["state"] = values
    file["state"] = h5py.ExternalLink(str(other), "/state")


def _virtual(file: h5py.File, values: np.ndarray[Any, Any]) -> None:
    _link_outside(file, values)
    del file["state"]
    layout = h5py.VirtualLayout(values.shape, values.dtype)
    layout[...] = h5py.VirtualSource(str(Path(file.filename).with_name("other.h5")), "state", values.shape)
    file.create_virtual_dataset("state", layout)


def _soft(file: h5py.File, values: np.ndarray[Any, Any]) -> None:
    file["state"] = h5py.SoftLink("/force")


def _committed(file: h5py.File, values: np.ndarray[Any, Any]) -> None:
    file["type"] = values.dtype
    file.create_dataset("state", data=values, dtype=file["type"])


def _huge(file: h5py.File, values: np.ndarray[Any, Any]) -> None:
    file.create_dataset("state", (2**20,) * 3, "f4", chunks=(2**8,) * 3)


STRUCTURES: dict[str, Callable[[h5py.File], object]] = {
    "external link": elsewhere(_link_outside),
    "external storage": elsewhere(_external),
    "virtual dataset": elsewhere(_virtual),
    "soft link": elsewhere(_soft),
    "committed type": elsewhere(_committed),
    "huge shape": elsewhere(_huge),
    "no state": elsewhere(lambda file, values: None),
    "group": elsewhere(lambda file, values: file.create_group("state")),
    "nested groups": elsewhere(lambda file, values: file.create_group("state/" + "/".join("a" * 300))),
    "a loop": elsewhere(lambda file, values: file.__setitem__("state", file["/"])),
    "compressed": elsewhere(lambda file, values: file.create_dataset("state", data=values, compression="gzip")),
    "strings": elsewhere(lambda file, values: file.create_dataset("state", data=["a", "b"])),
    "references": elsewhere(lambda file, values: file.create_dataset("state", data=[file.ref], dtype=h5py.ref_dtype)),
    "nothing": elsewhere(lambda file, values: file.create_dataset("state", data=h5py.Empty("f4"))),
    "a scalar": elsewhere(lambda file, values: file.create_dataset("state", data=1.0)),
    "one dataset more": lambda file: file.create_dataset("more", data=1.0),
    "many groups more": lambda file: [file.create_group(f"g{k}") for k in range(300)],
    "an attribute more": lambda file: file.attrs.__setitem__("more", 1),
    "an attribute of a dataset": lambda file: file["state"].attrs.__setitem__("more", 1),
    "no version": lambda file: file.attrs.__delitem__("version"),
    **{
        f"version {v!r}": (lambda file, v=v: file.attrs.__setitem__("version", v))
        for v in (0, 1, 2, 3, 5, -1, 4.5, "4")
    },
    "a version of many": lambda file: file.attrs.__setitem__("version", np.full(1000, 4)),
    "another format": lambda file: file.attrs.__setitem__("format", "other"),
    "a format of numbers": lambda file: file.attrs.__setitem__("format", np.zeros(9)),
    "another digest": lambda file: file.attrs.__setitem__("manifest_sha256", np.bytes_("0" * 64)),
    "a manifest of floats": lambda file: (
        file.__delitem__("manifest"),
        file.create_dataset("manifest", data=np.ones(9)),
    ),
    "a huge manifest": lambda file: (
        file.__delitem__("manifest"),
        file.create_dataset("manifest", (2**40,), "u1", chunks=(2**20,)),
    ),
    "a manifest elsewhere": lambda file: (
        file.__delitem__("manifest"),
        file.__setitem__("manifest", h5py.ExternalLink("other.h5", "/manifest")),
    ),
}


def old_bomb(file: h5py.File) -> None:
    """A mask that inflates to a gibibyte, written past the filter of HDF5."""
    mask = file["arrays/bodies/0/mask"]
    shape = mask.shape
    del file["arrays/bodies/0/mask"]
    bomb = file.create_dataset("arrays/bodies/0/mask", shape, bool, chunks=shape, compression="gzip")
    bomb.id.write_direct_chunk((0, 0), zlib.compress(bytes(2**28), 1))


def old_setup(change: Callable[[dict[str, Any]], object]) -> Callable[[h5py.File], None]:
    """Edits the setup of an old file, whose checksum comes out right."""

    def edit(file: h5py.File) -> None:
        setup = json.loads(file["setup"][:].tobytes())
        change(setup)
        del file["setup"]
        data = np.frombuffer(json.dumps(setup).encode(), np.uint8)
        file.create_dataset("setup", data=data, fletcher32=True)

    return edit


def old_nan(file: h5py.File) -> None:
    """A state with values that are not finite."""
    state = file["state"]
    state[0, 0, 0] = 0x7C01 if state.dtype == np.uint16 else np.nan


def old_empty(file: h5py.File) -> None:
    """A state that was never written."""
    shape, dtype = file["state"].shape, file["state"].dtype
    del file["state"]
    file.create_dataset("state", shape, dtype, chunks=(1, *shape[1:]), fletcher32=True)


OLD_STRUCTURES: dict[str, Callable[[h5py.File], object]] = {
    **{name: edit for name, edit in STRUCTURES.items() if "manifest" not in name and "digest" not in name},
    **{f"version {v!r}": (lambda file, v=v: file.attrs.__setitem__("version", v)) for v in (0, 4, 5, -1, 4.5, "1")},
    **{f"steps {v!r}": (lambda file, v=v: file.attrs.__setitem__("steps", v)) for v in (-1, 2**63 - 1, 1.5, "1")},
    **{
        f"density {v!r}": (lambda file, v=v: file.attrs.__setitem__("reference_density", v)) for v in (0.0, np.nan, "1")
    },
    "not a number": old_nan,
    "never written": old_empty,
    "shape": old_setup(lambda setup: setup.update(shape=[2**40, 2**40])),
    "no stencil": old_setup(lambda setup: setup.pop("stencil")),
    "no faces": old_setup(lambda setup: setup.update(faces=None)),
    "unknown model": old_setup(lambda setup: setup["collision"].update(model="x")),
}
for _name in ("version 1", "version 2", "version 3"):  # which one of the old files is
    OLD_STRUCTURES.pop(_name)
