"""Programs that fork while they step, and after it, with random numbers of threads.

Each program makes solvers, steps some of them in threads of its own, and forks children meanwhile, which make solvers of
their own, use those of the parent, drop them, or fork again. A child must compute the parent's bits or say by a
RuntimeError that begins with "fork:" what it cannot use, at once; and what the parent computes must not change.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

NAME = "forks"
QUICK, LONG = 4, 100
SECONDS = 120
"""After which ten programs hang; they take about two."""

PROGRAM = r"""
import faulthandler, os, signal, sys, threading, time
import numpy as np
from lbmgpu import _core

device, seeds = sys.argv[1], sys.argv[2:]
faulthandler.enable()
SHAPES = {"D2Q9": [20, 14], "D3Q19": [9, 8, 7], "D3Q27": [8, 6, 7], "D2Q37": [12, 9]}

def make(stencil, threads, on="cpu"):
    kinetic = stencil == "D2Q37"
    engine = _core.Engine(
        stencil=stencil, shape=SHAPES[stencil], collision="thermal-bgk" if kinetic else "bgk", viscosity=0.1,
        streaming="two-lattice" if kinetic else "in-place", threads=threads, device=on,
    )
    shape = engine.window[1][::-1]
    wave = np.sin(np.arange(np.prod(shape)).reshape(shape))
    engine.initialize(1 + 0.01 * wave, 0.01 * np.stack([wave] * len(shape)), False)
    return engine

def after(engine, steps):
    engine.step(steps)
    out = np.empty((len(engine.window[1]), *engine.window[1][::-1]))
    engine.velocity(out)
    return out.tobytes()

def tried(say, word, work):
    try:
        say(word if work() else f"WRONG {word}")
    except RuntimeError as error:
        say(f"{word}: refused" if str(error).startswith("fork: ") else f"WRONG {error!r}")

def child(rng, say, engines, expected, depth):
    signal.alarm(60)  # ends a child that hangs
    stencil = str(rng.choice(list(SHAPES)))
    threads, others = int(rng.integers(0, 5)), int(rng.integers(0, 5))
    tried(say, "own engine", lambda: after(make(stencil, threads), 3) == after(make(stencil, others), 3))
    for engine, right in zip(engines, expected):
        word = "parent's idle engine" if right else "parent's busy engine"
        tried(say, word, lambda: after(engine, 2) == right if right else after(engine, 2) is not None)
    if depth and rng.random() < 0.3:
        fork(rng, say, engines, [None] * len(engines), depth - 1)
    if rng.random() < 0.5:
        engines.clear()
    say("child ended")

def fork(rng, say, engines, expected, depth=1):
    number = os.fork()
    if number == 0:
        try:
            child(rng, say, engines, expected, depth)
            os._exit(0)
        except BaseException as error:
            say(f"WRONG {error!r}")
            os._exit(1)
    status = os.waitpid(number, 0)[1]
    if status:
        say(f"WRONG status {status} of a child")
    rng.random()

def attack(rng, say):
    engines, twins = [], []
    for k in range(3):
        stencil = str(rng.choice(list(SHAPES)))
        on = device if k == 0 and rng.random() < 0.5 else "cpu"
        engines.append(make(stencil, int(rng.integers(1, 5)), on))
        twins.append(make(stencil, int(rng.integers(1, 5))))
        steps = int(rng.integers(0, 20))
        engines[k].step(steps), twins[k].step(steps)
    busy = {k: 0 for k in range(3) if rng.random() < 0.5}
    expected = [None if k in busy else after(twins[k], 2) for k in range(3)]
    done = threading.Event()
    def forever(k):
        while not done.is_set():
            engines[k].step(7)
            busy[k] += 7
    workers = [threading.Thread(target=forever, args=(k,)) for k in busy]
    for worker in workers:
        worker.start()
    for _ in range(4):
        time.sleep(float(rng.random()) * 0.003)
        fork(rng, say, list(engines), expected)
    done.set()
    for worker in workers:
        worker.join()
    for k in range(3):  # what the parent computes has not changed
        right = after(twins[k], busy[k]) if k in busy else expected[k]
        say("parent" if after(engines[k], 0 if k in busy else 2) == right else "WRONG parent")

reading, writing = os.pipe()
for seed in seeds:
    attack(np.random.default_rng(int(seed)), lambda text: os.write(writing, f"{text} ({seed})\n".encode()))
os.close(writing)
sys.stdout.write(os.fdopen(reading).read())
"""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """`count` programs of four forks each, ten in a process; how often a child could do what or was refused."""
    outcomes: Counter[str] = Counter()
    seeds = [str(seed) for seed in rng.integers(2**31, size=count)]
    for k in range(0, count, 10):
        arguments = [device, *seeds[k : k + 10]]
        again = f"repeat it by: python -c forks.PROGRAM {' '.join(arguments)}"
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", PROGRAM, *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"a program hangs; {again}") from error
        assert done.returncode == 0, f"a program ended with {done.returncode}; {again}\n{done.stderr}"
        lines = done.stdout.splitlines()
        assert lines, f"a program said nothing; {again}\n{done.stderr}"
        wrong = [line for line in lines if line.startswith("WRONG")]
        assert not wrong, f"{wrong}, each with the number of its program; {again}"
        outcomes.update(line.rpartition(" (")[0] for line in lines)
    return outcomes
