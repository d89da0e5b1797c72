"""The program of the attack `forks`: arguments are the device and the seeds; prints what happened, a line each."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lbmgpu import _core, models

SHAPES = {name: [20, 14] if _core.stencil(name).D == 2 else [9, 8, 7] for name in _core.stencil_names()}


def make(stencil: str, threads: int, device: str = "cpu") -> _core.Engine:
    """An engine with a wave."""
    engine = _core.Engine(
        stencil=stencil,
        shape=SHAPES[stencil],
        collision=_core.collision_names(stencil)[0],
        viscosity=0.1,
        streaming=models.default_streaming(stencil),
        threads=threads,
        device=device,
    )
    shape = engine.window[1][::-1]
    wave = np.sin(np.arange(np.prod(shape)).reshape(shape))
    engine.initialize(1 + 0.01 * wave, 0.01 * np.stack([wave] * len(shape)), False)
    return engine


def after(engine: _core.Engine, steps: int) -> bytes:
    """The velocity after some steps."""
    engine.step(steps)
    shape = engine.window[1]
    out = np.empty((len(shape), *shape[::-1]))
    engine.velocity(out)
    return out.tobytes()


@dataclass
class Attack:
    """One program's random choices, and the pipe that all its processes report to."""

    seed: str
    pipe: int
    device: str

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(int(self.seed))

    def say(self, text: str) -> None:
        os.write(self.pipe, f"{text} ({self.seed})\n".encode())

    def stencil(self) -> str:
        return str(self.rng.choice(list(SHAPES)))

    def attempt(self, word: str, work: Callable[[], bool]) -> None:
        """Report what becomes of it: a right result, a wrong one, or the named error."""
        try:
            self.say(word if work() else f"WRONG {word}")
        except RuntimeError as error:
            self.say(f"{word}: refused" if str(error).startswith("fork: ") else f"WRONG {error!r}")

    def child(self, engines: list[_core.Engine], expected: list[bytes | None], depth: int) -> None:
        """What a child does; `expected` is None where a thread of the parent may be stepping."""
        signal.alarm(60)  # ends a child that hangs
        stencil, threads, others = self.stencil(), int(self.rng.integers(5)), int(self.rng.integers(5))
        self.attempt("own engine", lambda: after(make(stencil, threads), 3) == after(make(stencil, others), 3))
        for k, right in enumerate(expected):
            if right is None:
                self.attempt("parent's busy engine", lambda k=k: after(engines[k], 2) != b"")  # type: ignore[misc]
            else:
                self.attempt("parent's idle engine", lambda k=k, right=right: after(engines[k], 2) == right)  # type: ignore[misc]
        if depth and self.rng.random() < 0.3:
            self.fork(engines, [None] * len(engines), depth - 1)
        if self.rng.random() < 0.5:
            engines.clear()
        self.say("child ended")

    def fork(self, engines: list[_core.Engine], expected: list[bytes | None], depth: int = 1) -> None:
        number = os.fork()
        if number == 0:
            try:
                self.child(engines, expected, depth)
                os._exit(0)
            except BaseException as error:
                self.say(f"WRONG {error!r}")
                os._exit(1)
        status = os.waitpid(number, 0)[1]
        if status:
            self.say(f"WRONG status {status} of a child")
        self.rng.random()  # the next child chooses otherwise

    def run(self) -> None:
        """Step some of three engines in threads, fork four times, and compare all with twins that nobody forked."""
        engines, twins = [], []
        for k in range(3):
            stencil = self.stencil()
            device = self.device if k == 0 and self.rng.random() < 0.5 else "cpu"
            engines.append(make(stencil, int(self.rng.integers(1, 5)), device))
            twins.append(make(stencil, int(self.rng.integers(1, 5))))
            steps = int(self.rng.integers(20))
            engines[k].step(steps)
            twins[k].step(steps)
        done = {k: 0 for k in range(3) if self.rng.random() < 0.5}
        expected = [None if k in done else after(twins[k], 2) for k in range(3)]
        end = threading.Event()

        def step(k: int) -> None:
            while not end.is_set():
                engines[k].step(7)
                done[k] += 7

        workers = [threading.Thread(target=step, args=(k,)) for k in done]
        for worker in workers:
            worker.start()
        for _ in range(4):
            time.sleep(float(self.rng.random()) * 0.003)
            self.fork(list(engines), expected)
        end.set()
        for worker in workers:
            worker.join()
        for k in range(3):
            right = after(twins[k], done[k]) if k in done else expected[k]
            self.say("parent" if after(engines[k], 0 if k in done else 2) == right else "WRONG parent")


def main() -> None:
    faulthandler.enable()
    reading, writing = os.pipe()
    for seed in sys.argv[2:]:
        Attack(seed, writing, sys.argv[1]).run()
    os.close(writing)
    sys.stdout.write(os.fdopen(reading).read())


main()
