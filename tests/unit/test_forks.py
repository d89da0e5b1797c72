"""A forked child: what works there, what is refused by name at once, and that nothing hangs or hurts the parent."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from multiprocessing.context import ForkProcess
from typing import Any

import numpy as np
import pytest
from mpi import launch

from lbmgpu import BGK, Domain, Solver, _core
from lbmgpu.parallel.forked import ForkAwareLock

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")
SECONDS = 60
"""After which a child hangs; it takes well under one."""


def in_child(work: Callable[[], Any]) -> Any:
    """What `work` returns in a forked child, or its exception as text; fails where the child hangs or crashes."""
    fork = multiprocessing.get_context("fork")
    answer = fork.SimpleQueue()

    def run() -> None:
        try:
            answer.put(work())
        except BaseException as error:
            answer.put(f"{type(error).__name__}: {error}")

    child: ForkProcess = fork.Process(target=run)
    child.start()
    child.join(SECONDS)
    if child.exitcode is None:
        child.kill()
        pytest.fail("the child hangs")
    assert child.exitcode == 0, f"the child ended with {child.exitcode}"
    return answer.get()


def flow(threads: int, device: str = "cpu") -> Solver:
    solver = Solver(Domain((24, 16), "D2Q9"), BGK(viscosity=0.1), threads=threads, device=device)
    x = np.arange(24)[:, None] + np.zeros(16)
    solver.initialize(velocity=np.stack([0.01 * np.sin(x), 0 * x]))
    return solver


def momenta(solver: Solver) -> list[float]:
    solver.step(3)
    return [float(value) for value in solver.velocity().ravel()]


@pytest.mark.parametrize("threads", [1, 2, None])
def test_new_solvers_work_in_a_child_with_any_number_of_threads(threads: int | None) -> None:
    here = momenta(flow(2))
    assert in_child(lambda: momenta(flow(threads))) == here


def test_the_parents_solver_goes_on_in_both_from_where_it_was() -> None:
    solver = flow(2)
    solver.step(5)
    there = in_child(lambda: momenta(solver))
    assert momenta(solver) == there


def test_a_child_of_a_child_works() -> None:
    solver = flow(2)
    solver.step(1)
    there = in_child(lambda: in_child(lambda: momenta(solver)))
    assert momenta(solver) == there


def test_a_solver_that_another_thread_was_stepping_is_refused_in_the_child_and_can_be_dropped() -> None:
    held = [flow(2)._simulation.engine]
    begins = threading.Event()

    def steps(engine: _core.Engine) -> None:
        begins.set()
        engine.step(150_000)  # about a second: the fork is in the middle of it

    stepping = threading.Thread(target=steps, args=held)
    stepping.start()
    begins.wait()
    time.sleep(0.05)

    def use_and_drop() -> str:
        with pytest.raises(RuntimeError, match=r"^fork: another thread of the parent .*\('spawn'\)"):
            held[0].step(1)
        with pytest.raises(RuntimeError, match="fork"):
            held[0].density(np.empty((16, 24)))
        held.clear()
        momenta(flow(2))
        return "done"

    try:
        assert in_child(use_and_drop) == "done"
    finally:
        stepping.join()


def test_a_solver_in_the_middle_of_a_change_by_another_thread_is_refused_in_the_child() -> None:
    lock = ForkAwareLock()
    free = ForkAwareLock()
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            inside.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()

    def enter() -> str:
        with free, free:  # re-entrant as ever
            pass
        with pytest.raises(RuntimeError, match="fork: another thread"), lock:
            pass
        return "done"

    try:
        assert in_child(enter) == "done"
    finally:
        done.set()
        holder.join()
    with lock:
        pass


def test_a_pool_of_forked_workers_computes() -> None:
    here = momenta(flow(2))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            assert pool.map_async(_momenta_of, [1, 2, 2]).get(SECONDS) == [here] * 3
        except multiprocessing.TimeoutError:
            pytest.fail("the workers hang")


def _momenta_of(threads: int) -> list[float]:
    return momenta(flow(threads))


def test_children_started_while_the_parent_steps_neither_hang_nor_hurt_it() -> None:
    solver = flow(2)
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stepping = threading.Thread(target=lambda: found.put(solver.step(10000)))
    stepping.start()
    try:
        for _ in range(3):
            assert len(in_child(lambda: momenta(flow(2)))) == 2 * 24 * 16
    finally:
        stepping.join()
    other = flow(1)
    other.step(10000)
    assert np.array_equal(solver.velocity(), other.velocity())


@pytest.mark.gpu
def test_gpus_are_refused_by_name_in_a_child_of_their_user(gpu: str) -> None:
    solver = flow(1, gpu)
    solver.step(1)
    held = [solver]

    def use_and_drop() -> str:
        for work in (lambda: held[0].step(1), lambda: flow(1, "cuda"), _core.cuda_device_count):
            with pytest.raises(RuntimeError, match=r"^fork: .*\('spawn'\)"):
                work()
        held.clear()
        momenta(flow(2))
        return "done"

    assert in_child(use_and_drop) == "done"
    solver.step(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_by_hand_ends_without_a_word() -> None:
    solver = flow(2)
    solver.step(1)
    child = os.fork()
    if child == 0:
        del solver
        os._exit(0)
    deadline = time.monotonic() + SECONDS
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    sys.stdout.flush()


def test_mpi_is_refused_by_name_in_a_child_and_after_its_end() -> None:
    launch.need_mpi()
    program = """
        import os, sys
        from mpi4py import MPI
        from lbmgpu import _core
        comm = _core.mpi_communicator(MPI.__file__, MPI.COMM_SELF.py2f())
        def refused():
            for call in (comm.barrier, lambda: comm.maximum(1.0), lambda: comm.exchange([], [])):
                try:
                    call()
                except RuntimeError as error:
                    os.write(1, str(error).partition(";")[0].encode() + b"\\n")
        child = os.fork()
        if child == 0:
            refused()
            del comm
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        comm.barrier()
        MPI.Finalize()
        refused()
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    forked = "fork: MPI cannot be used in a child of a process that has started it"
    assert done.stdout.splitlines() == [forked] * 3 + ["MPI: it has been finalised"] * 3
