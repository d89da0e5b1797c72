"""Checkpoints: continue bit for bit, appear whole or not at all, refuse what is damaged or of another setup."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from reference.registry import FLOW_STENCILS, PAIRS

import lbmgpu as lbm
from lbmgpu.collision_table import BY_KIND

from .support import cavity, cube, shape_of

PARAMETERS = {
    "trt": {"magic": 0.25},
    "mrt": {"smagorinsky": 0.1},
    "central-moments": {"magic": 0.25, "least_odd_rate": 0.4},
    "cumulant": {"bulk_viscosity": 0.02, "limiter": None, "parametrized": False},
}


def moving(stencil: str, **options: Any) -> lbm.Solver:
    """A flow with a force, in a cavity with a body."""
    shape = tuple(n + 2 for n in shape_of(stencil))
    domain = cavity(shape, stencil)
    domain.add_body(cube(shape), "cube", lbm.MovingWall((0.01,) * len(shape)))
    return lbm.Solver(domain, options.pop("collision", lbm.BGK(0.03)), force=(1e-5,) * len(shape), **options)


def assert_equal(a: lbm.Solver, b: lbm.Solver) -> None:
    """Same steps and same bits."""
    assert a.steps == b.steps
    np.testing.assert_array_equal(a.populations(), b.populations())
    np.testing.assert_array_equal(a.velocity(), b.velocity())


@pytest.mark.parametrize("stencil", FLOW_STENCILS)
@pytest.mark.parametrize(
    ("precision", "storage"),
    [(p, s) for p, s in itertools.product(["float32", "float64"], ["float16", "float32", "float64"]) if s <= p],
)
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("steps", [6, 7])
def test_continues_bit_for_bit(
    stencil: str, precision: str, storage: str, streaming: str, steps: int, tmp_path: Path
) -> None:
    solver = moving(stencil, precision=precision, storage=storage, streaming=streaming)
    solver.step(steps)
    path = solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(path)
    assert (loaded.precision, loaded.storage, loaded.streaming) == (precision, storage, streaming)
    assert_equal(solver, loaded)
    for both in (solver, loaded):
        both.step(9)
    assert_equal(solver, loaded)


@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_every_collision_comes_back(stencil: str, kind: str, tmp_path: Path) -> None:
    collision = BY_KIND[kind](0.03, **PARAMETERS.get(kind, {}))
    solver = moving(stencil, collision=collision)
    solver.step(5)
    loaded = lbm.Solver.load(solver.save(tmp_path / "state.h5"))
    assert type(loaded.collision) is type(collision)
    for both in (solver, loaded):
        both.step(5)
    assert_equal(solver, loaded)


def test_moves_to_another_streaming_and_thread_count(tmp_path: Path) -> None:
    solver = moving("D3Q19", streaming="in-place", threads=1)
    solver.step(7)
    path = solver.save(tmp_path / "state.h5")
    other = moving("D3Q19", streaming="two-lattice", threads=2)
    other.restore(path)
    assert_equal(solver, other)
    for both in (solver, other):
        both.step(8)
    np.testing.assert_allclose(solver.velocity(), other.velocity(), atol=1e-6)


def test_every_condition_comes_back(tmp_path: Path, rng: np.random.Generator) -> None:
    shape = (9, 8, 7)
    domain = lbm.Domain(shape)
    domain.faces["-x"] = lbm.VelocityInlet(lambda x, y, z: (0.05 * z / 7, 0, 0))
    domain.faces["+x"] = lbm.PressureOutlet(1 + 0.001 * rng.random((8, 7)))
    domain.faces["-y"] = lbm.FreeSlip()
    domain.faces["+y"] = lbm.Outflow()
    domain.faces["-z"] = lbm.NoSlip()
    domain.faces["+z"] = lbm.MovingWall(0.01 * rng.random((3, 9, 8)))
    domain.add_body(cube(shape), "spinner", lbm.MovingWall(lambda x, y, z: (0.01 * (y - 3), -0.01 * (x - 3), 0)))
    domain.add_body(cube(shape, 5, 6), "rest")
    force = 1e-5 * rng.random((3, *shape))
    solver = lbm.Solver(domain, lbm.MRT(0.05, rates={"e": 1.3}), force=force, precision="float64")
    solver.step(6)
    loaded = lbm.Solver.load(solver.save(tmp_path / "state.h5"))
    assert list(loaded.domain.bodies) == ["spinner", "rest"]
    for both in (solver, loaded):
        both.step(6)
    assert_equal(solver, loaded)
    np.testing.assert_array_equal(solver.body_torque("spinner"), loaded.body_torque("spinner"))


def test_function_of_time_has_to_be_given_again(tmp_path: Path) -> None:
    def flow() -> lbm.Domain:
        domain = cavity((6, 5), "D2Q9")
        domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.05 * np.sin(0.1 * t), 0))
        return domain

    solver = lbm.Solver(flow(), lbm.BGK(0.05))
    solver.step(5)
    path = solver.save(tmp_path / "state.h5")
    with pytest.raises(lbm.CheckpointError, match=r"face '\+y' changes in time.*domain="):
        lbm.Solver.load(path)
    loaded = lbm.Solver.load(path, domain=flow())
    for both in (solver, loaded):
        both.step(9)
    assert_equal(solver, loaded)
    with pytest.raises(lbm.CheckpointError, match=r"faces\.\+y\.velocity: the file has a function of time"):
        lbm.Solver.load(path, domain=cavity((6, 5), "D2Q9"))


def test_another_setup_is_refused_naming_all_differences(tmp_path: Path) -> None:
    path = moving("D2Q9", collision=lbm.TRT(0.03)).save(tmp_path / "state.h5")
    domain = cavity((9, 7), "D2Q9", speed=0.06)
    domain.faces["-x"] = lbm.FreeSlip()
    domain.add_body(cube((9, 7), 3, 5), "cube", lbm.MovingWall((0.01, 0.01)))
    solver = lbm.Solver(domain, lbm.TRT(0.04), precision="float64")
    solver.step(2)
    before = solver.populations()
    with pytest.raises(lbm.CheckpointError) as caught:
        solver.restore(path)
    text = str(caught.value)
    for line in (
        "precision: the file has 'float32', this solver has 'float64'",
        "storage: the file has 'float32', this solver has 'float64'",
        "collision.viscosity: the file has 0.03, this solver has 0.04",
        "faces.-x.condition: the file has 'no-slip', this solver has 'free-slip'",
        "faces.+y.velocity: the file has [0.05, 0.0], this solver has [0.06, 0.0]",
        "bodies.cube.mask: the arrays differ",
        "force: the file has [1e-05, 1e-05], this solver has none",
    ):
        assert line in text
    assert "magic" not in text
    assert "stencil" not in text
    np.testing.assert_array_equal(solver.populations(), before)
    assert solver.steps == 2


def test_other_shape_is_refused(tmp_path: Path) -> None:
    path = lbm.Solver(lbm.Domain((4, 5), "D2Q9"), lbm.BGK(0.1)).save(tmp_path / "state.h5")
    with pytest.raises(lbm.CheckpointError, match=r"shape: the file has \[4, 5\], this solver has \[5, 4\]"):
        lbm.Solver(lbm.Domain((5, 4), "D2Q9"), lbm.BGK(0.1)).restore(path)


def test_failure_while_writing_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = moving("D2Q9")
    path = solver.save(tmp_path / "state.h5")
    content = path.read_bytes()
    solver.step(3)

    def fail(*_: Any) -> None:
        raise OSError("no space left")

    for name in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="no space left"):
                solver.save(path)
        assert path.read_bytes() == content
        assert os.listdir(tmp_path) == ["state.h5"]


@pytest.mark.parametrize("moment", ["before the file is flushed", "before the file is renamed"])
def test_kill_while_writing_leaves_the_old_file(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    where = {"before the file is flushed": "fsync", "before the file is renamed": "replace"}[moment]
    script = f"""
        import os, signal
        import lbmgpu as lbm
        solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), force=(1e-5, 0))
        solver.step(4)
        solver.save({str(path)!r})
        solver.step(4)
        os.{where} = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
        solver.save({str(path)!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == -signal.SIGKILL
    solver = lbm.Solver.load(path)
    assert solver.steps == 4
    solver.step(1)
    solver.save(path)
    assert lbm.Solver.load(path).steps == 5


def test_truncated_file(tmp_path: Path) -> None:
    path = moving("D2Q9").save(tmp_path / "state.h5")
    content = path.read_bytes()
    for part in (0, 1, 7, 100, 1000, len(content) // 2, len(content) - 100, len(content) - 1):
        path.write_bytes(content[:part])
        with pytest.raises(lbm.CheckpointError, match="damaged or not a checkpoint"):
            lbm.Solver.load(path)


def test_flipped_bits_are_found_or_without_effect(tmp_path: Path, rng: np.random.Generator) -> None:
    solver = moving("D2Q9")
    solver.step(5)
    path = solver.save(tmp_path / "state.h5")
    content = path.read_bytes()
    found = 0
    for position in rng.integers(0, len(content), 150):
        changed = bytearray(content)
        changed[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            loaded = lbm.Solver.load(path)
        except lbm.CheckpointError:
            found += 1
        else:
            assert_equal(solver, loaded)
    assert found > 20


def test_flipped_bit_in_state(tmp_path: Path) -> None:
    solver = moving("D2Q9")
    path = solver.save(tmp_path / "state.h5")
    with h5py.File(path, "r") as file:
        offset = file["state"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[offset + 5] ^= 4
    path.write_bytes(content)
    with pytest.raises(lbm.CheckpointError, match="damaged"):
        solver.restore(path)


def test_unknown_version(tmp_path: Path) -> None:
    solver = moving("D2Q9")
    path = solver.save(tmp_path / "state.h5")
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 6
    with pytest.raises(lbm.CheckpointError, match="format version 6, this lbmgpu reads versions 1 to 5"):
        solver.restore(path)


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no checkpoint at"):
        lbm.Solver.load(tmp_path / "missing.h5")
    with pytest.raises(FileNotFoundError, match="no checkpoint at"):
        lbm.Solver.load(tmp_path)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["data"] = np.zeros(3)
    with pytest.raises(lbm.CheckpointError, match="not a checkpoint of lbmgpu"):
        lbm.Solver.load(tmp_path / "other.h5")
    with pytest.raises(FileNotFoundError, match="no folder"):
        moving("D2Q9").save(tmp_path / "missing folder" / "state.h5")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"path: .*results given, which is a folder; must name a file"):
        moving("D2Q9").save(folder)
    assert [*tmp_path.iterdir()] == [folder]
    assert not list(folder.iterdir())


def test_link_stays_a_link(tmp_path: Path) -> None:
    solver = moving("D2Q9")
    solver.save(tmp_path / "real.h5")
    (tmp_path / "link.h5").symlink_to(tmp_path / "real.h5")
    solver.step(2)
    assert solver.save(tmp_path / "link.h5") == tmp_path / "real.h5"
    assert (tmp_path / "link.h5").is_symlink()
    assert lbm.Solver.load(tmp_path / "link.h5").steps == 2
