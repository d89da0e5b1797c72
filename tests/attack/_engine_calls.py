"""The program of the attack `engine_inputs`: arguments are the seed and the number of calls; prints the outcomes."""

from __future__ import annotations

import faulthandler
import inspect
import re
import resource
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import addresses_are_taken

from lbmgpu import _core
from lbmgpu.models import MODELS, of

ADDRESSES = 6 << 30
"""Bytes that the process may have."""
MOST_STEPS = 2**53
FACES = ["no-slip", "moving-wall", "velocity-inlet", "pressure-outlet", "outflow", "free-slip"]
WORDS = [
    *("", "cpu", "cuda:0", "cuda:99999", "cuda:-1", *_core.stencil_names(), *_core.collision_names()),
    *("float16", "float32", "float64", "in-place", "two-lattice", "periodic", *FACES, "adiabatic", "isothermal"),
    *("direct", "staged", "mpi", "overlap", "blocking", "avx2", "baseline", "isotropic", "sm_90", "sm_", "update.h"),
    *("../x", "/dev/null", "a\0b", "\udc80", "x" * 5000, "%s%n", "nan"),
]
SIZES = [0, 1, -1, 2, 3, 6, 7, 64, 4096, 4097, 2**15, 2**31 - 1, 2**31, 2**32]
NUMBERS = [*SIZES, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, True]
FLOATS = [0.0, -0.0, 0.1, 0.5, 1.0, -1.0, 1.5, 1e-320, 1e-30, 1e30, 1e308, float("nan"), float("inf"), float("-inf")]
DTYPES: list[Any] = ["f8"] * 4 + ["f4", ">f8", "f2", "i4", "u2", "bool", "c16", "O", "U3", "M8[s]", "g", [("a", "f8")]]
SHAPES = [(), (0,), (1,), (2,), (3,), (8,), (0, 3), (5, 4), (2, 5, 4), (3, 4, 5, 6), (1,) * 20, (4, 5, 6), (9, 0, 3)]
HEAT = ["diffusivity", "operators", "energy_coupling", "buoyancy", "reference", "faces", "e", "q", "x", 3, None]


class Rude:
    """Raises for whatever it is asked."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise OSError("no")

    __index__ = __float__ = __array__

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, at: Any) -> Any:
        raise IndexError("no")


class Nonsense:
    """Random values."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.engines: list[_core.Engine] = []

    def chance(self, of: float) -> bool:
        return bool(self.rng.random() < of)

    def pick(self, values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def array(self, shape: tuple[int, ...] | None = None) -> Any:
        """An array of any shape, type, order, alignment and stride."""
        dtype = self.pick(DTYPES)
        make = np.ones if self.chance(0.7) else np.zeros
        made = make(self.pick(SHAPES) if shape is None else shape, dtype)
        if made.dtype.kind == "f" and self.chance(0.4):
            made = np.asarray(made * self.pick(FLOATS))
        how = int(self.rng.integers(8))
        if how == 0 and made.ndim:
            made = made[..., ::-1]
        elif how == 1:
            made = made.T
        elif how == 2 and made.ndim:
            made = np.repeat(made, 2, axis=0)[::2]
        elif how == 3 and dtype != "O" and made.nbytes:
            made = np.zeros(made.nbytes + 1, np.uint8)[1:].view(made.dtype).reshape(made.shape)
        elif how == 4 and made.size == 1:
            made = np.broadcast_to(made.reshape(()), self.pick([(4, 5, 6), (2**12,) * 3, (2**31, 2)]))
        elif how == 5:
            made.flags.writeable = False
        return made

    def nasty(self, depth: int = 0) -> Any:
        """Anything at all."""
        how = int(self.rng.integers(8 if depth == 3 else 11))
        if how < 6:
            return self.pick([NUMBERS, FLOATS, WORDS][how // 2])
        if how == 6:
            return self.array()
        if how == 8:
            return [self.nasty(depth + 1) for _ in range(int(self.rng.integers(9)))]
        if how == 9:
            return tuple(self.nasty(depth + 1) for _ in range(int(self.rng.integers(5))))
        if how == 10:
            return {self.pick(HEAT): self.nasty(depth + 1) for _ in range(int(self.rng.integers(4)))}
        others = [None, b"", b"\0", object(), Rude(), Rude, print, range(3), np.float64(1), np.int8(3), 1j, ...]
        return self.pick([*others, slice(None), memoryview(b"ab"), iter([1]), *self.engines])

    def integers(self, length: int) -> list[int]:
        return [self.pick(SIZES) if self.chance(0.3) else int(self.rng.integers(9)) for _ in range(length)]

    def block(self, axes: int) -> Any:
        rank = self.pick([0, 0, 0, 1, -1, 2**31 - 1])
        return (self.integers(axes), self.integers(axes), rank, self.pick(["cpu", "cpu", "cuda:0", ""]))

    def likely(self, name: str, engine: _core.Engine | None) -> Any:
        """A value that is right, or nearly so, for a parameter of this name."""
        shape = tuple(engine.window[1][::-1]) if engine is not None else (4, 5)
        axes = len(shape)
        populations = (_core.stencil(self.pick(_core.stencil_names())).Q, *shape)
        makers: dict[tuple[str, ...], Callable[[], Any]] = {
            ("stencil", "collision", "precision", "storage", "streaming"): lambda: self.pick(WORDS[5:20]),
            ("isa", "channel", "schedule", "device", "target", "other"): lambda: self.pick(["", "cpu", *WORDS]),
            ("architecture", "header"): lambda: self.pick(WORDS),
            ("name",): lambda: self.pick([*WORDS, *range(-1, 6)]),
            ("shape",): lambda: self.integers(self.pick([2, 3, 3, 8, 0])),
            ("faces", "thermal_faces"): lambda: [self.pick(WORDS)] * self.pick([0, 4, 6, 16]),
            ("body", "face", "rank"): lambda: int(self.rng.integers(-2, 7)),
            ("blocks",): lambda: [self.block(self.pick([0, 2, 3, 3, 8])) for _ in range(int(self.rng.integers(4)))],
            ("steps",): lambda: self.pick([0, 1, 3, -1, MOST_STEPS, 2**62, 2**63 - 1, -(2**63)]),
            ("threads",): lambda: self.pick([1, 2, 3, 0, -1, 5000, 2**31 - 1]),
            ("vertices", "points"): lambda: self.array(self.pick([(5, 3), (0, 3), (3,), (4, 2)])),
            ("triangles",): lambda: self.rng.integers(-1, 6, self.pick([(7, 3), (0, 3), (4, 2)])),
            ("velocities",): lambda: [self.integers(self.pick([2, 3, 3, 3])), [0, 1, -1], [0, 0, 0]],
            ("offset", "step"): lambda: self.integers(3),
            ("own", "taken"): lambda: np.ones([self.pick([3, 4, 5, 6])] * 3, self.pick(["bool", "bool", "f8"])),
            ("closure",): lambda: int(self.rng.integers(-1, 4)),
            ("least", "hidden", "margin", "beta", "distance"): lambda: self.pick(FLOATS),
            ("repeats",): lambda: int(self.rng.integers(-1, 4)),
            ("bytes",): lambda: self.pick([0, 1, 16, 9000, 2**20, 2**40, 2**63, 2**64 - 1]),
            ("viscosity", "magic", "smagorinsky", "prandtl", "seconds"): lambda: self.pick(FLOATS),
            ("gravity", "center"): lambda: [self.pick(FLOATS) for _ in range(axes)],
            ("velocity", "force"): lambda: self.array(self.pick([(axes,), (axes, *shape), shape])),
            ("density", "temperature", "mask", "source"): lambda: self.array(self.pick([(), shape, (axes, *shape)])),
            ("out", "values"): lambda: self.array(self.pick([shape, (axes, *shape), populations])),
            ("thermal",): lambda: self.pick([None, {"diffusivity": 0.1, "faces": ["adiabatic"] * self.pick([4, 16])}]),
        }
        return next((make for names, make in makers.items() if name in names), self.nasty)()

    def setup(self) -> dict[str, Any]:
        """What an engine is made of, all right."""
        stencil = self.pick(_core.stencil_names())
        model = of(stencil)
        axes, heated = int(stencil[1]), stencil in MODELS["hybrid thermal"].stencils
        walls = [face for face in FACES if face in model.faces]
        faces = ["periodic"] * (2 * axes)
        if self.chance(0.7):
            faces[:2] = [self.pick(walls) for _ in range(2)]
        return {
            "stencil": stencil,
            "shape": [int(size) for size in self.rng.integers(3, 7, size=axes)],
            "collision": self.pick(_core.collision_names(stencil)),
            "viscosity": 0.1,
            "streaming": self.pick(model.streamings),
            "faces": faces,
            "threads": self.pick([1, 1, 2]),
            "thermal": {"diffusivity": 0.1} if heated and self.chance(0.4) else None,
        }

    def renew(self) -> None:
        """Other engines; the former are dropped in whatever state they are."""
        self.engines[:] = [_core.Engine(**self.setup()) for _ in range(2)]

    def call(self) -> tuple[str, Callable[[], Any]]:
        """Something to do, and its name."""
        how = self.rng.random()
        if how < 0.25:
            return self.new_engine()
        if how < 0.35:
            return self.use_surface()
        if how < 0.75:
            engine: _core.Engine | None = self.pick(self.engines)
            name = self.pick(MEMBERS)
            given = getattr(_core.Engine, name)
            if not callable(given):
                return self.use_property(engine, name)
            owner: Any = engine
        else:
            owner, engine, name = _core, None, self.pick(FUNCTIONS)
            given = getattr(owner, name)
        arguments = [self.likely(each, engine) if self.chance(0.7) else self.nasty() for each in parameters(given)]
        if name == "step" and isinstance(arguments[0], int) and 3 < arguments[0] <= MOST_STEPS:
            arguments[0] = MOST_STEPS + 1  # what takes years is not wrong
        if name.endswith("_bandwidth") and isinstance(arguments[-1], int):
            arguments[-1] = min(arguments[-1], 3)
        if self.chance(0.1):
            arguments = arguments[:-1] if self.chance(0.5) else [*arguments, self.nasty()]
        return name, lambda: getattr(owner, name)(*arguments)

    def new_engine(self) -> tuple[str, Callable[[], Any]]:
        arguments = self.setup()
        for _ in range(int(self.rng.integers(1, 4))):
            name = self.pick(parameters(_core.Engine.__init__))
            arguments[name] = self.likely(name, None) if self.chance(0.6) else self.nasty()
        return "Engine", lambda: _core.Engine(**arguments).step(1)

    def use_surface(self) -> tuple[str, Callable[[], Any]]:
        """A method of a surface of a few triangles, closed or not; small parts, as those of all sizes are made too."""
        name = self.pick(SURFACE_MEMBERS)
        given = parameters(getattr(_core.Surface, name))
        arguments = {each: self.likely(each, None) if self.chance(0.8) else self.nasty() for each in given}
        if "shape" in arguments and self.chance(0.7):
            arguments |= {"shape": [4, 4, 4], "own": np.ones((6, 6, 6), "bool"), "taken": np.zeros((4, 4, 4), "bool")}
            arguments = {each: arguments[each] for each in given}
        vertices = np.round(self.rng.uniform(0, 4, (5, 3)) * 2) / 2
        triangles = self.pick([np.array([(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)]), self.rng.integers(0, 5, (7, 3))])
        closure = int(self.rng.integers(3))
        return name, lambda: getattr(_core.Surface(vertices, triangles, closure), name)(**arguments)

    def use_property(self, engine: _core.Engine | None, name: str) -> tuple[str, Callable[[], Any]]:
        if self.chance(0.5):
            return name, lambda: getattr(engine, name)
        value = self.likely(name, engine) if self.chance(0.5) else self.nasty()
        return f"{name} =", lambda: setattr(engine, name, value)


def parameters(function: Any) -> list[str]:
    """The names of a compiled function's parameters, from its signature."""
    line = (inspect.getdoc(function) or "()").splitlines()[0]
    for _ in range(4):  # brackets in brackets
        line = re.sub(r"\[[^\[\]]*\]", "", line)
    return [name for name in re.findall(r"[(,] *(\w+):", line) if name != "self"]


FUNCTIONS = [name for name in dir(_core) if not name.startswith("__") and callable(getattr(_core, name))]
SURFACE_MEMBERS = [name for name in dir(_core.Surface) if not name.startswith("__")]
MEMBERS = [name for name in dir(_core.Engine) if not name.startswith("__")]


def main() -> None:
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    faulthandler.enable()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if not addresses_are_taken():
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    nonsense, outcomes = Nonsense(seed), Counter[str]()
    for k in range(count):
        if k % 50 == 0:
            nonsense.renew()
        name, work = nonsense.call()
        print(f"{k}: {name}", file=sys.stderr, flush=True)
        try:
            work()
            outcomes["accepted"] += 1
        except Exception as error:
            if not str(error):
                raise AssertionError(f"{type(error).__name__} without a text") from error
            outcomes[type(error).__name__] += 1
        if k % 10 == 0:
            for engine in nonsense.engines:
                if engine.steps < MOST_STEPS:
                    engine.step(1)
    print(dict(outcomes))


main()
