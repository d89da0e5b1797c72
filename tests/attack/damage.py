"""Damages checkpoints at random, and reads crafted invalid ones.

Each must raise CheckpointError within a second, or load with every bit of the original. Bits are flipped, files cut,
sectors and chunks swapped and zeroed, words of zeros and ones exchanged; the crafted files are well-formed HDF5 with
correct digests that no solver has written.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import in_child

import lbmgpu as lbm
from attack._crafted import EDITS, OLD_STRUCTURES, STRUCTURES, content, old_bomb, write
from lbmgpu.io.checkpoint_setup import describe, differences

NAME = "damaged checkpoints"
QUICK, LONG = 120, 3000

SECONDS = 1.0
"""Of the processor, until a file is refused: others may be using the machine."""
ROOM = 2**31
"""Bytes that reading may take beside what is there: what would take more is not refused in time."""
OLD = sorted((Path(__file__).resolve().parents[1] / "data" / "checkpoints").glob("version?.h5"))


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """Make `count` attacks in a child."""
    return in_child(__file__, int(rng.integers(2**31)), count, folder, timeout=60 + 0.15 * count)


def make() -> lbm.Solver:
    """A flow with a temperature and arrays of all kinds."""
    domain = lbm.Domain((9, 7), "D2Q9")
    for face in ("-x", "+x", "-y"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall(lambda x, y: (0.01 + 0.001 * x, 0 * x))
    domain.thermal["-x"] = lbm.Isothermal(1.0)
    mask = np.zeros(domain.shape, bool)
    mask[3:5, 2:4] = True
    domain.add_body(mask, "spinner", lbm.MovingWall(lambda x, y: (0.01 * (y - 3), -0.01 * (x - 4))))
    force = 1e-5 * np.arange(126.0).reshape(2, 9, 7)
    thermal = lbm.HybridThermal(0.05, buoyancy=(0, 1e-4), source=1e-6 * np.arange(63.0).reshape(9, 7))
    return lbm.Solver(domain, lbm.TRT(0.05), force=force, thermal=thermal, device="cpu", threads=1)


def flipped(data: bytearray, rng: np.random.Generator) -> None:
    """One to eight bits."""
    for _ in range(int(rng.integers(1, 9))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))


def cut(data: bytearray, rng: np.random.Generator) -> None:
    """The end is missing."""
    del data[int(rng.integers(len(data))) :]


def sector(data: bytearray, rng: np.random.Generator) -> slice:
    """An aligned part of 16 bytes to 4 KiB."""
    size = 2 ** int(rng.integers(4, 13))
    start = int(rng.integers(len(data))) // size * size
    return slice(start, min(start + size, len(data)))


def swapped(data: bytearray, rng: np.random.Generator) -> None:
    """Two sectors."""
    one = sector(data, rng)
    size = one.stop - one.start
    start = int(rng.integers(len(data) - size + 1)) // 16 * 16
    other = slice(start, start + size)
    first, second = bytes(data[one]), bytes(data[other])
    data[one], data[other] = second, first


def zeroed(data: bytearray, rng: np.random.Generator) -> None:
    """A sector."""
    part = sector(data, rng)
    data[part] = bytes(part.stop - part.start)


def exchanged(data: bytearray, rng: np.random.Generator) -> None:
    """Words 0x0000 become 0xFFFF in a part, and the other way."""
    part = sector(data, rng)
    words = np.frombuffer(bytes(data[part])[: (part.stop - part.start) // 2 * 2], np.uint16)
    data[part.start : part.start + 2 * words.size] = (
        np.where(words == 0, 0xFFFF, np.where(words == 0xFFFF, 0, words)).astype(np.uint16).tobytes()
    )


def chunks_swapped(data: bytearray, rng: np.random.Generator) -> None:
    """Two populations of the checkpoint of `make`, whole."""
    size = 9 * 7 * 4
    a, b = rng.choice(9, 2, replace=False)
    start = data.index(np.ascontiguousarray(STATE[0]).tobytes())
    one, other = (slice(start + int(k) * size, start + (int(k) + 1) * size) for k in (a, b))
    first, second = bytes(data[one]), bytes(data[other])
    data[one], data[other] = second, first


STATE: list[np.ndarray[Any, Any]] = []

DAMAGES = [flipped, cut, swapped, zeroed, exchanged, chunks_swapped]


def refused(path: Path, solver: lbm.Solver | None) -> str:
    """How loading ends; AssertionError unless it is right."""
    begin = time.process_time()
    try:
        loaded = lbm.Solver.load(path, device="cpu", threads=1)
    except lbm.CheckpointError as error:
        text, seconds = str(error), time.process_time() - begin
    else:
        text, seconds = "", 0.0
    if text:
        assert text.startswith(str(path)), text
        assert seconds < SECONDS, f"refused after {seconds:.1f} s"
        return "refused"
    assert solver is not None, "was loaded"
    assert loaded.steps == solver.steps
    state, own = (np.empty((9, 7, 9), "f4") for _ in range(2))
    loaded._simulation.engine.get_state(state)
    solver._simulation.engine.get_state(own)
    assert state.tobytes() == own.tobytes()
    np.testing.assert_array_equal(loaded.temperature(), solver.temperature())
    (stored, arrays), (setup, own_arrays) = describe(loaded._simulation), describe(solver._simulation)
    assert not list(differences(stored, setup, arrays, own_arrays))
    return "every bit is right"


def attacks(rng: np.random.Generator, count: int, folder: Path) -> Counter[str]:
    """Make `count` attacks: damage and crafted files in turn."""
    warnings.simplefilter("ignore")
    solver, path, outcomes = make(), folder / "state.h5", Counter[str]()
    solver.step(5)
    whole = solver.save(path).read_bytes()
    STATE[:] = content(path)["arrays"]["state"]
    given = content(path)
    write(path, given)
    assert refused(path, solver) == "every bit is right"  # so what is refused below is so for what was changed
    crafted: list[tuple[str, Any]] = [("edit", item) for item in EDITS.items()]
    crafted += [("structure", item) for item in STRUCTURES.items()]
    crafted += [("old", (old, item)) for old in OLD for item in OLD_STRUCTURES.items()]
    crafted += [("old", (OLD[0], ("bomb", old_bomb))), ("old", (OLD[1], ("bomb", old_bomb)))]
    order = rng.permutation(len(crafted))
    taken = 0
    usage = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (usage + ROOM, resource.RLIM_INFINITY))
    for number in range(count):
        what = ""
        try:
            if number % 4 == 3 and taken < len(crafted):
                kind, item = crafted[order[taken]]
                taken += 1
                if kind == "edit":
                    what, change = item
                    write(path, given)
                    edited = content(path)
                    change(edited)
                    write(path, edited)
                elif kind == "structure":
                    what, edit = item
                    write(path, given, edit)
                else:
                    old, (what, edit) = item
                    path.write_bytes(old.read_bytes())
                    with h5py.File(path, "r+") as file:
                        edit(file)
                outcome = refused(path, None)
                outcomes[f"crafted: {outcome}"] += 1
            elif number % 8 == 1:
                old = OLD[int(rng.integers(len(OLD)))]
                data = bytearray(old.read_bytes())
                damage = DAMAGES[int(rng.integers(3))]
                what = f"{old.name} {damage.__name__}"
                damage(data, rng)
                path.write_bytes(data)
                outcomes[f"damaged, older: {old_outcome(path, old)}"] += 1
            else:
                data = bytearray(whole)
                damage = DAMAGES[int(rng.integers(len(DAMAGES)))]
                what = damage.__name__
                damage(data, rng)
                path.write_bytes(data)
                outcomes[f"damaged: {refused(path, solver)}"] += 1
        except BaseException as error:
            raise AssertionError(f"attack {number}, {what}: {type(error).__name__}: {error}") from error
    return outcomes


def old_outcome(path: Path, old: Path) -> str:
    """The same of a damaged file of an older version; swapped checksums of it cannot tell places."""
    begin = time.process_time()
    try:
        loaded = lbm.Solver.load(path, device="cpu", threads=1)
    except lbm.CheckpointError:
        assert time.process_time() - begin < SECONDS
        return "refused"
    right = lbm.Solver.load(old, device="cpu", threads=1)
    np.testing.assert_array_equal(loaded.populations(), right.populations())
    return "every bit is right"


if __name__ == "__main__":
    print(json.dumps(attacks(np.random.default_rng(int(sys.argv[1])), int(sys.argv[2]), Path(sys.argv[3]))))
