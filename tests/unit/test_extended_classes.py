"""Tests user subclasses of `Domain` and `Solver`, changed `Checkpoint` callbacks, and saves while a script is ending.

Such a save comes from a thread that is still at work, or from a function for the exit of the program.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from faults import full_disk

import lbmgpu as lbm
from lbmgpu.files.folder_lock import FolderLock

from .support import cube


class Channel(lbm.Domain):
    """A domain with something of its own."""

    def __init__(self, n: int) -> None:
        super().__init__((n, 6), "D2Q9")
        self.width = n


class Recorder(lbm.Solver):
    """A solver that keeps a history."""

    history: list[int] | None = None


def test_a_class_of_a_user_may_have_attributes() -> None:
    domain = Channel(8)
    solver = Recorder(domain, lbm.BGK(0.1), device="cpu")
    solver.history, domain.note = [1], "inlet"
    assert (solver.history, domain.width, domain.note) == ([1], 8, "inlet")
    with pytest.raises(AttributeError, match=r"Recorder\.steps: cannot be assigned"):
        solver.steps = 3


def test_a_copy_of_a_users_domain_is_one_of_them() -> None:
    domain = Channel(8)
    domain.add_body(cube((8, 6)), "cube")
    for other in (domain.copy(), copy.deepcopy(domain), pickle.loads(pickle.dumps(domain))):
        assert (type(other), other.width, list(other.bodies)) == (Channel, 8, ["cube"])


def test_bodies_are_taken_out_as_of_any_mapping() -> None:
    domain = Channel(8)
    domain.add_body(cube((8, 6)), "cube")
    assert domain.bodies.pop("cube").name == "cube"
    assert not domain.bodies


def test_a_checkpoint_of_a_run_may_change_and_is_checked() -> None:
    checkpoint = lbm.Checkpoint("state.h5", 10)
    checkpoint.every = 20
    assert checkpoint.every == 20
    with pytest.raises(ValueError, match="every"):
        checkpoint.every = 0
    with pytest.raises(AttributeError, match="evry"):
        checkpoint.evry = 5


def test_a_lock_that_a_full_disk_refuses_is_given_back(tmp_path: Path) -> None:
    with full_disk(0), pytest.raises(OSError, match="File too large"):
        FolderLock(tmp_path)
    FolderLock(tmp_path).release()


LATE = """
import atexit, sys, threading, time
import lbmgpu as lbm

solver = lbm.Solver(lbm.Domain((512, 512), "D2Q9"), lbm.BGK(0.1), precision="float64", device="cpu", threads=2)

def save_after_main():
    threading.main_thread().join()
    time.sleep(0.1)
    solver.save(sys.argv[1] + "/thread.h5")

threading.Thread(target=save_after_main).start()
atexit.register(lambda: solver.save(sys.argv[1] + "/atexit.h5"))
"""


def test_a_save_after_the_last_line_of_a_script_is_whole(tmp_path: Path) -> None:
    """In a thread that is still at work, and in a function for the end of the program."""
    subprocess.run([sys.executable, "-c", LATE, str(tmp_path)], check=True, timeout=60)
    for name in ("thread", "atexit"):
        assert lbm.Solver.load(tmp_path / f"{name}.h5", device="cpu").domain.shape == (512, 512)
