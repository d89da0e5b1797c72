"""Tests of studies on other engines than their own worker processes: dask, mpi4py, and what submits jobs of its own."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.study.workers import LentWorkers

from .study_support import flow, run, square

pytestmark = pytest.mark.filterwarnings("ignore::lbmgpu.MissingResultsWarning")


class BatchJob:
    """A job as submitit and executorlib give it: a process of its own that reads a file and writes another."""

    def __init__(self, folder: Path, function: Any, arguments: tuple[Any, ...]) -> None:
        self._out = folder / "out.pickle"
        (folder / "in.pickle").write_bytes(pickle.dumps((function, arguments)))
        code = (
            f"import pickle, pathlib, sys; sys.path[:] = {sys.path!r}; folder = pathlib.Path({str(folder)!r}); "
            "function, arguments = pickle.loads((folder / 'in.pickle').read_bytes()); "
            "(folder / 'out.pickle').write_bytes(pickle.dumps(function(*arguments)))"
        )
        self._process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)

    def done(self) -> bool:
        return self._process.poll() is not None

    def result(self) -> Any:
        if self._process.wait() != 0:
            raise RuntimeError("the job was lost")
        return pickle.loads(self._out.read_bytes())


class BatchSystem:
    """An engine with `submit` alone, whose jobs have `done` and `result` alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.count = 0

    def submit(self, function: Any, /, *arguments: Any) -> BatchJob:
        folder = self._folder / f"job{self.count}"
        folder.mkdir(parents=True)
        self.count += 1
        return BatchJob(folder, function, arguments)


def dies(case: Any, x: int) -> dict[str, Any]:
    """A case whose process ends at its first attempt."""
    if x == 2 and case.attempt == 1:
        import os

        os._exit(1)
    return {"y": x * 10, "device": case.device}


@pytest.mark.slow
def test_a_batch_system_runs_the_cases(tmp_path: Path) -> None:
    study = lbm.Study(dies, {"x": [1, 2]}, tmp_path / "study")
    batch = BatchSystem(tmp_path / "batch")
    found = study.run("cpu", executor=batch, progress=False)
    assert found.status.values.tolist() == ["done", "killed"]
    assert str(found.message.values[1]) == "its worker was lost (RuntimeError: the job was lost)"
    found = study.run("cpu", executor=batch, progress=False)
    assert found.y.values.tolist() == [10, 20]
    assert found.device.values.tolist() == ["cpu", "cpu"]
    assert batch.count == 3


def test_threads_count_their_own_steps(tmp_path: Path) -> None:
    """Two cases at a time in one process: the speed of each is of its own solvers."""

    def busy(case: Any, cells: int) -> dict[str, Any]:
        domain = lbm.Domain((cells, cells), "D2Q9")
        solver = case.solver(domain, lbm.TRT(0.05))
        case.run(solver, 200)
        return {"updates": case._updates}

    with ThreadPoolExecutor(2) as threads:
        study = lbm.Study(busy, {"cells": [16, 24, 32, 40]}, tmp_path / "study")
        found = study.run(executor=threads, threads=1, progress=False)
    assert found.updates.values.tolist() == [200.0 * n * n for n in (16, 24, 32, 40)]


class Counted(ThreadPoolExecutor):
    """An engine that keeps how many cases it was given with each job."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.sizes: list[int] = []

    def submit(self, function: Any, /, *arguments: Any) -> Any:  # type: ignore[override]
        self.sizes.append(len(arguments[0]))
        return super().submit(function, *arguments)


@pytest.mark.parametrize(("workers", "batch", "sizes"), [(2, True, [3, 2]), (2, 2, [2, 2, 1]), (8, 4, [1] * 5)])
def test_the_cases_of_a_batch_are_divided_over_the_workers_of_an_engine(
    workers: int, batch: bool | int, sizes: list[int], tmp_path: Path
) -> None:
    with Counted(workers) as engine:
        study = lbm.Study(square, {"x": range(5)}, tmp_path / "study", batch=batch)
        found = study.run("cpu", executor=engine, progress=False)
    assert found.status.values.tolist() == ["done"] * 5
    assert engine.sizes == sizes


def test_the_workers_of_other_engines_are_counted() -> None:
    class Client:
        def nthreads(self) -> dict[str, int]:
            return {"tcp://one": 2, "tcp://two": 1}

    class OfDask:
        _client = Client()

    class OfMPI:
        num_workers = 4

    engines: list[tuple[Any, int]] = [(OfDask(), 4), (OfMPI(), 3), (object(), 64)]
    for engine, batch in engines:
        assert LentWorkers(engine, "cpu", 12, None, 64).batch == batch


def test_an_engine_that_takes_no_job_ends_the_run(tmp_path: Path) -> None:
    class Closed:
        def submit(self, function: Any, /, *arguments: Any) -> Any:
            raise RuntimeError("closed")

    study = lbm.Study(square, {"x": [1]}, tmp_path / "study")
    with pytest.raises(RuntimeError, match="closed"):
        study.run(executor=Closed(), progress=False)
    assert run(study).y.values.tolist() == [1]


@pytest.mark.slow
def test_dask_runs_the_cases(tmp_path: Path) -> None:
    import distributed  # which takes a while, and is of the extra `test`

    expected = run(lbm.Study(flow, {"speed": [0.02, 0.04, 0.06]}, tmp_path / "expected"))
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "local_directory": str(tmp_path)}
    with distributed.LocalCluster(processes=True, **local) as cluster, distributed.Client(cluster) as client:
        study = lbm.Study(flow, {"speed": [0.02, 0.04, 0.06]}, tmp_path / "study")
        found = study.run("cpu", executor=client.get_executor(), progress=False)
        assert LentWorkers(client.get_executor(), "cpu", 12, None, 64).batch == 6
    assert found.identical(expected)
    assert len(set(study.cases().device)) == 1


MPI = """
import sys
import numpy as np
import lbmgpu as lbm
from lbmgpu.study.workers import LentWorkers
from mpi4py.futures import MPIPoolExecutor

def flow(case, viscosity):
    from mpi4py import MPI
    solver = case.solver(lbm.Domain((16, 16), "D2Q9"), lbm.TRT(viscosity))
    solver.initialize(velocity=lambda x, y: (0.05 * np.sin(2 * np.pi * y / 16), 0))
    case.run(solver, 50)
    return {"energy": solver.kinetic_energy(), "rank": MPI.COMM_WORLD.Get_rank()}

if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        study = lbm.Study(flow, {"viscosity": [0.01, 0.02, 0.03, 0.04]}, sys.argv[1])
        found = study.run("cpu", executor=executor, progress=False)
        print(LentWorkers(executor, "cpu", 12, None, 64).batch, "cases a worker")
    others = sorted(set(found["rank"].values.tolist()) - {1, 2})
    print(found.status.values.tolist(), others, found.energy.values.tolist())
"""


@pytest.mark.slow
def test_ranks_of_mpi_run_the_cases(tmp_path: Path) -> None:
    from mpi import launch

    launch.need_mpi()
    (tmp_path / "program.py").write_text(MPI)
    ended = launch.run_python(3, "-m", "mpi4py.futures", str(tmp_path / "program.py"), str(tmp_path / "study"))
    assert ended.code == 0, ended.output
    assert "['done', 'done', 'done', 'done'] [] [" in ended.output
    assert "6 cases a worker" in ended.output
    energies = [float(text) for text in ended.output.rpartition("[")[2].partition("]")[0].split(",")]
    assert sorted(energies, reverse=True) == energies
    assert len(set(energies)) == 4
