"""Several threads step one solver, save it, read its fields and sums, ask for its report and change its force.

Every file, and all that was read together, must be of one whole step: a solver that makes the same steps alone, with
the same forces from the same steps on, has its bits. Nothing hangs.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

NAME = "threads"
QUICK, LONG = 2, 60

SECONDS = 0.5
"""That the threads of one attack work."""
PATIENCE = 60.0
"""Seconds after which a thread hangs; the machine may have other work."""


def make(kind: str, device: str) -> lbm.Solver:
    """A small flow, of `kind` "steady walls" (thousands of steps a second), "moving walls", or "heat"."""
    domain = lbm.Domain((24, 16), "D2Q9")
    domain.faces["-y"] = lbm.NoSlip()
    lid: Any = (0.05, 0.0)
    if kind == "moving walls":
        lid = lambda x, y, t: (0.05 * np.sin(0.1 * t) + 0 * x, 0.0)  # noqa: E731
    domain.faces["+y"] = lbm.MovingWall(lid)
    mask = np.zeros(domain.shape, bool)
    mask[8:12, 6:9] = True
    domain.add_body(mask, "stone")
    thermal = lbm.HybridThermal(0.05, buoyancy=(0, 1e-4), reference=0.5) if kind == "heat" else None
    if thermal is not None:
        domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(1.0), lbm.Isothermal(0.0)
    return lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device=device, threads=1, thermal=thermal)


def digest(solver: lbm.Solver) -> str:
    """Of the state and the force."""
    parts = [solver.populations().tobytes(), repr(solver.force).encode()]
    if solver.thermal is not None:
        parts.append(solver.temperature().tobytes())
    return hashlib.blake2b(b"".join(parts)).hexdigest()


class Mix:
    """Threads at work on one solver, and what they saw."""

    def __init__(self, rng: np.random.Generator, folder: Path, device: str) -> None:
        self.kind = str(rng.choice(["steady walls", "moving walls", "heat"]))
        self.device, self.folder = device, folder
        self.solver = make(self.kind, device)
        self.stop = threading.Event()
        self.seen: list[tuple[int, str]] = []
        self.velocities: list[tuple[int, str, int]] = []
        self.files: list[Path] = []
        self.forces: list[tuple[int, tuple[float, float]]] = []
        self.reports = 0
        self.errors: list[BaseException] = []
        jobs = [self.step, self.save, *rng.choice([self.step, self.save, self.read, self.ask, self.push], 3)]
        self.names = [job.__name__ for job in jobs]
        seeds = rng.integers(2**32, size=len(jobs))
        self.threads = [
            threading.Thread(target=self.work, args=(job, int(seed)), daemon=True)
            for job, seed in zip(jobs, seeds, strict=True)
        ]

    def work(self, job: Callable[[np.random.Generator], None], seed: int) -> None:
        """Do a job again and again until the end, at random intervals."""
        rng = np.random.default_rng(seed)
        try:
            while not self.stop.is_set():
                job(rng)
                if job != self.step:
                    time.sleep(float(rng.exponential(0.01)))
        except BaseException as error:
            self.errors.append(error)

    def step(self, rng: np.random.Generator) -> None:
        many = int(rng.choice([1, 3, 40, 3000 if self.kind == "steady walls" else 200]))
        if rng.random() < 0.3:
            self.solver.run(many, callbacks=[lbm.Every(1 + many // 3, lambda solver: solver.mass())])
        else:
            self.solver.step(many)

    def save(self, rng: np.random.Generator) -> None:
        path = self.folder / f"{threading.get_ident()}.{len(self.files)}.h5"
        self.files.append(self.solver.save(path))

    def read(self, rng: np.random.Generator) -> None:
        before, velocity, after = self.solver.steps, self.solver.velocity(), self.solver.steps
        self.velocities.append((before, hashlib.blake2b(velocity.tobytes()).hexdigest(), after))
        with self.solver.paused():
            self.seen.append((self.solver.steps, digest(self.solver)))

    def ask(self, rng: np.random.Generator) -> None:
        assert "24 x 16" in str(self.solver.report(bandwidth=False))
        self.reports += 1

    def push(self, rng: np.random.Generator) -> None:
        force = (float(rng.uniform(-1e-5, 1e-5)), 0.0)
        with self.solver.paused():
            self.forces.append((self.solver.steps, force))
            self.solver.force = force

    def run(self) -> None:
        """Let them work; raise AssertionError for one that fails or hangs."""
        for thread in self.threads:
            thread.start()
        time.sleep(SECONDS)
        self.stop.set()
        end = time.monotonic() + PATIENCE
        for thread, name in zip(self.threads, self.names, strict=True):
            thread.join(max(0.0, end - time.monotonic()))
            assert not thread.is_alive(), f"a thread hangs in {name}, beside {self.names}"
        assert not self.errors, f"{self.names}: {self.errors[0]!r}"

    def check(self) -> Counter[str]:
        """What was seen, beside the solver alone."""
        found: Counter[str] = Counter({"reports": self.reports})
        seen = list(self.seen)
        for path in self.files:
            domain = None if self.kind != "moving walls" else self.solver.domain
            loaded = lbm.Solver.load(path, domain=domain, device=self.device, threads=1)
            seen.append((loaded.steps, digest(loaded)))
            os.remove(path)
        alone, states, velocities = make(self.kind, self.device), set(), {}
        last = max([self.solver.steps, *(step for step, _ in seen)])
        wanted = {step for step, _ in seen}
        wanted_velocities = {n for before, _, after in self.velocities for n in range(before, after + 1)}
        stops = sorted({*wanted, *wanted_velocities, *(step for step, _ in self.forces), last})
        for step in stops:
            alone.step(step - alone.steps)
            for force in [None, *(force for at, force in self.forces if at == step)]:
                if force is not None:
                    alone.force = force
                if step in wanted:
                    states.add((step, digest(alone)))
                if step in wanted_velocities:
                    velocity = hashlib.blake2b(alone.velocity().tobytes()).hexdigest()
                    velocities.setdefault(velocity, []).append(step)
        for step, state in seen:
            assert (step, state) in states, f"{self.names}, {self.kind}: a state of step {step} that is none"
        for before, velocity, after in self.velocities:
            of = velocities.get(velocity, [])
            assert any(before <= step <= after for step in of), f"{self.names}, {self.kind}: velocities of no step"
        assert digest(alone) == digest(self.solver), f"{self.names}, {self.kind}: the end differs at step {last}"
        found["files whole"] = len(self.files)
        found["fields of one step"] = len(self.seen) + len(self.velocities)
        found["forces set"] = len(self.forces)
        return found


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """See the top; `count` mixes of threads."""
    total: Counter[str] = Counter()
    for _ in range(count):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            mix = Mix(rng, Path(own), device)
            mix.run()
            total += mix.check()
            total["mixes"] += 1
    return total
