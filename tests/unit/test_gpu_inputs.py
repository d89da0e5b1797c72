"""Arrays in a GPU's memory as initial states, forces and heat sources: the bits of the same arrays of the host, with
nothing copied there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_driver import OnGpu, full_memory, requests
from numpy.typing import NDArray

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.engine import foreign_arrays

pytestmark = pytest.mark.gpu

Array = NDArray[Any]
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "x fastest": lambda a: np.ascontiguousarray(a.transpose(0, *range(a.ndim - 1, 0, -1))).transpose(
        0, *range(a.ndim - 1, 0, -1)
    ),
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1],
    "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "broadcast": lambda a: np.broadcast_to(a[..., :1], a.shape),
}
"""Ways in which an array may lie in memory."""


@pytest.fixture
def only_on_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """No array may go through the host."""
    monkeypatch.setattr(foreign_arrays.GpuArray, "on_host", lambda given: pytest.fail(f"{given.name} was copied"))


direct = pytest.mark.usefixtures("only_on_gpus")


def field(rng: np.random.Generator, low: float, high: float, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
    return rng.uniform(low, high, shape).astype(dtype)


def box(shape: tuple[int, ...]) -> lbm.Domain:
    """With a moving wall, which takes the mean density, and a body."""
    domain = lbm.Domain(shape, stencil="D2Q9" if len(shape) == 2 else "D3Q19")
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05,) + (0.0,) * (len(shape) - 1))
    mask = np.zeros(shape, dtype=bool)
    mask[2:4, 2:4] = True
    domain.add_body(mask, "block")
    return domain


def same(one: lbm.Solver, other: lbm.Solver) -> None:
    """Both have the same bits, now and after some steps."""
    for _ in range(2):
        np.testing.assert_array_equal(one.populations(), other.populations())
        np.testing.assert_array_equal(one.density(), other.density())
        one.step(2), other.step(2)


@direct
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(13, 7), (9, 6, 5)])
@pytest.mark.parametrize("nonequilibrium", [False, True])
def test_a_state_has_the_bits_of_one_of_the_host(
    shape: tuple[int, ...], precision: str, dtype: str, layout: str, nonequilibrium: bool, gpu: str, rng: Any
) -> None:
    D = len(shape)
    density = LAYOUTS[layout](field(rng, 0.9, 1.1, (1, *shape), dtype))[0]
    velocity = LAYOUTS[layout](field(rng, -0.05, 0.05, (D, *shape), dtype))
    force = LAYOUTS[layout](field(rng, -1e-4, 1e-4, (D, *shape), dtype))
    solvers = []
    for given in (lambda a: a, OnGpu):
        solver = lbm.Solver(box(shape), lbm.TRT(0.05), force=given(force), precision=precision, device=gpu)
        solver.initialize(given(density), given(velocity), nonequilibrium=nonequilibrium)
        solvers.append(solver)
    same(*solvers)
    held = force.astype(precision) if dtype == "float64" else force
    found = solvers[1].force
    assert found is not None
    np.testing.assert_array_equal(found, held.astype(np.float64))
    assert found.dtype == np.float64
    assert not found.flags.writeable


@direct
@pytest.mark.parametrize("name", ["density", "velocity"])
@pytest.mark.parametrize("nonequilibrium", [False, True])
def test_one_field_may_be_on_the_gpu_and_another_on_the_host(
    name: str, nonequilibrium: bool, gpu: str, rng: Any
) -> None:
    shape = (9, 6, 5)
    given = {"density": field(rng, 0.9, 1.1, shape), "velocity": field(rng, -0.05, 0.05, (3, *shape))}
    solvers = [lbm.Solver(box(shape), lbm.TRT(0.05), device=gpu) for _ in range(2)]
    solvers[0].initialize(**given, nonequilibrium=nonequilibrium)
    solvers[1].initialize(**given | {name: OnGpu(given[name])}, nonequilibrium=nonequilibrium)  # type: ignore[arg-type]
    same(*solvers)


@direct
@pytest.mark.parametrize("stepped", [0, 3])
@pytest.mark.parametrize("moves", [False, True])
def test_a_force_that_changed_in_time_may_be_followed_by_one_on_the_gpu(
    stepped: int, moves: bool, gpu: str, rng: Any
) -> None:
    """For more steps than there were factors of."""
    shape, found = (9, 6), []
    force = field(rng, -1e-5, 1e-5, (2, *shape))
    for given in (lambda a: a, OnGpu):
        domain = box(shape)
        if moves:
            domain.faces["+y"] = lbm.MovingWall((0.05, 0.0) * lbm.Sine(period=7))
        solver = lbm.Solver(domain, lbm.TRT(0.05), force=(1e-6, 0) * lbm.Sine(period=9), device=gpu)
        solver.step(stepped)
        solver.force = given(force)
        solver.step(1100)
        found.append(solver.populations())
    np.testing.assert_array_equal(*found)


def test_a_checkpoint_goes_with_the_same_force_of_the_host(gpu: str, rng: Any, tmp_path: Path) -> None:
    """In float32, in which the GPU gives it back."""
    shape = (9, 6)
    force = field(rng, -1e-5, 1e-5, (2, *shape))
    solvers = [
        lbm.Solver(box(shape), lbm.TRT(0.05), force=given, device=device, precision="float32")
        for given, device in ((OnGpu(force), gpu), (force, gpu), (force, "cpu"))
    ]
    for solver in solvers:
        solver.step(3)
        path = solver.save(tmp_path / "state.h5")
        for other in solvers:
            other.restore(path)
    with pytest.raises(lbm.CheckpointError, match="force: the arrays differ"):
        lbm.Solver(box(shape), lbm.TRT(0.05), force=2 * force, device=gpu, precision="float32").restore(path)


@direct
def test_fields_of_a_solver_go_to_another_one(gpu: str, rng: Any) -> None:
    """Through DLPack, which the arrays of `device_array` have too."""
    shape = (9, 6, 5)
    first = lbm.Solver(box(shape), lbm.TRT(0.05), device=gpu, precision="float64")
    first.initialize(velocity=field(rng, -0.05, 0.05, (3, *shape)))
    first.step(3)
    solvers = [lbm.Solver(box(shape), lbm.TRT(0.05), device=gpu) for _ in range(2)]
    solvers[0].initialize(first.density(), first.velocity())
    solvers[1].initialize(first.device_array("density"), first.device_array("velocity"))  # type: ignore[arg-type]
    same(*solvers)


def test_fields_of_a_gpu_go_to_a_solver_on_the_cpu(gpu: str, rng: Any) -> None:
    shape = (9, 6, 5)
    velocity = field(rng, -0.05, 0.05, (3, *shape))
    first = lbm.Solver(box(shape), lbm.TRT(0.05), device=gpu, precision="float64")
    first.initialize(velocity=velocity)
    for given in (first.device_array("velocity"), OnGpu(velocity)):
        solvers = [lbm.Solver(box(shape), lbm.TRT(0.05), device="cpu") for _ in range(2)]
        solvers[0].initialize(velocity=velocity)
        solvers[1].initialize(velocity=given)  # type: ignore[arg-type]
        np.testing.assert_allclose(solvers[0].populations(), solvers[1].populations(), rtol=0, atol=1e-6)


@direct
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("reference", [0.0, 20.0])
def test_temperatures_and_heat_sources_have_the_bits_of_those_of_the_host(
    precision: str, reference: float, gpu: str, rng: Any
) -> None:
    shape = (9, 6, 5)
    model = lbm.HybridThermal(0.05, buoyancy=(0, 1e-4, 0), reference=reference)
    temperature = field(rng, reference - 1, reference + 1, shape, "float32")
    source = field(rng, -1e-3, 1e-3, shape)
    solvers = []
    for given in (lambda a: a, OnGpu):
        solver = lbm.Solver(box(shape), lbm.TRT(0.05), thermal=model, precision=precision, device=gpu)
        solver.initialize(temperature=given(temperature))
        solver.heat_source = given(source)
        solvers.append(solver)
        solver.step(1)
    same(*solvers)
    np.testing.assert_array_equal(solvers[0].temperature(), solvers[1].temperature())
    np.testing.assert_array_equal(solvers[1].heat_source, source.astype(precision).astype(np.float64))
    solvers[1].heat_source = None
    assert solvers[1].heat_source is None


@direct
def test_a_gas_has_the_bits_of_one_of_the_host(gpu: str, rng: Any) -> None:
    shape = (12, 9)
    given = {"density": (0.9, 1.1, shape), "velocity": (-0.05, 0.05, (2, *shape)), "temperature": (0.6, 0.8, shape)}
    fields = {name: field(rng, *ranges) for name, ranges in given.items()}
    solvers = []
    for to in (lambda a: a, OnGpu):
        solver = lbm.Solver(lbm.Domain(shape, "D2Q37"), lbm.ThermalBGK(0.05), device=gpu)
        solver.initialize(**{name: to(array) for name, array in fields.items()})
        solvers.append(solver)
    same(*solvers)


@direct
def test_the_least_numbers_of_float32_are_not_flushed(gpu: str) -> None:
    """NumPy converts them to float64 as they are, kernels flush them."""
    shape = (9, 6)
    tiny = np.full((2, *shape), np.float32(1e-40))
    tiny[1, 3:] = -np.float32(1e-45)
    tiny[0, 0] = -0.0
    solver = lbm.Solver(lbm.Domain(shape, "D2Q9"), lbm.BGK(0.05), force=OnGpu(tiny), precision="float64", device=gpu)
    assert solver.force is not None
    np.testing.assert_array_equal(solver.force, tiny.astype(np.float64))
    assert np.signbit(solver.force[0, 0]).all()


@direct
@pytest.mark.parametrize("cuts", [(2, 1, 1), (1, 2, 1), (1, 1, 2), (2, 2, 2)])
@pytest.mark.parametrize("nonequilibrium", [False, True])
def test_blocks_take_their_parts(cuts: tuple[int, ...], nonequilibrium: bool, gpu: str, rng: Any) -> None:
    """Of all GPUs that there are: each in turn has the arrays."""
    shape, count = (12, 8, 6), _core.cuda_device_count()
    devices = [f"cuda:{k % count}" for k in range(int(np.prod(cuts)))]
    fields = [field(rng, 0.9, 1.1, shape), *(field(rng, -b, b, (3, *shape)) for b in (0.05, 1e-4))]
    one = lbm.Solver(box(shape), lbm.TRT(0.05), force=fields[2], device=gpu)
    one.initialize(*fields[:2], nonequilibrium=nonequilibrium)
    layout = lbm.Layout.split(shape, cuts, devices)
    for ordinal in range(count):
        density, velocity, force = (OnGpu(array, ordinal) for array in fields)
        other = lbm.Solver(box(shape), lbm.TRT(0.05), force=force, layout=layout)
        other.initialize(density, velocity, nonequilibrium=nonequilibrium)
        np.testing.assert_array_equal(one.populations(), other.populations())
        other.step(3)
        after = lbm.Solver(box(shape), lbm.TRT(0.05), force=fields[2], device=gpu)
        after.initialize(*fields[:2], nonequilibrium=nonequilibrium)
        after.step(3)
        np.testing.assert_array_equal(after.populations(), other.populations())
        np.testing.assert_array_equal(other.force, fields[2].astype(np.float32).astype(np.float64))


def test_blocks_on_the_cpu_beside_a_gpu_take_them_through_the_host(gpu: str, rng: Any) -> None:
    shape = (12, 8, 6)
    velocity = field(rng, -0.05, 0.05, (3, *shape))
    one = lbm.Solver(box(shape), lbm.TRT(0.05), device=gpu)
    one.initialize(velocity=velocity)
    other = lbm.Solver(box(shape), lbm.TRT(0.05), layout=lbm.Layout.split(shape, (1, 1, 2), [gpu, "cpu"]))
    other.initialize(velocity=OnGpu(velocity))  # type: ignore[arg-type]
    np.testing.assert_array_equal(one.populations(), other.populations())


def with_one(value: float, at: tuple[int, ...], of: Array) -> Array:
    of = of.copy()
    of[at] = value
    return of


SHAPE = (9, 6, 5)
ONES, STILL = np.ones(SHAPE), np.zeros((3, *SHAPE))
WRONG: dict[str, dict[str, Array]] = {
    "nan": {"velocity": with_one(np.nan, (1, 3, 2, 4), STILL)},
    "infinite": {"density": with_one(-np.inf, (3, 2, 1), ONES)},
    "nan of float32": {"temperature": with_one(np.nan, (8, 5, 4), ONES.astype(np.float32))},
    "too fast": {"velocity": with_one(0.3, (2, 8, 5, 4), STILL)},
    "far too fast": {"velocity": with_one(1e200, (0, 0, 0, 0), STILL)},
    "too light": {"density": with_one(1e-4, (0, 2, 1), ONES)},
    "too heavy": {"density": with_one(1001, (0, 2, 1), ONES)},
    "too hot": {"temperature": with_one(2e6, (0, 2, 1), ONES)},
    "too cold": {"temperature": with_one(-2e6, (0, 2, 1), ONES.astype(np.float32))},
    "of another shape": {"density": np.ones((9, 6, 6))},
    "of too many components": {"velocity": np.zeros((4, *SHAPE))},
    "of no components": {"velocity": ONES},
    "complex": {"density": ONES.astype(complex)},
    "empty": {"density": np.ones((0, 6, 5))},
}
ONLY_ITS_LIBRARY = ("of too many components", "complex", "empty")
"""Those that only their library can copy to the host."""


class Copied(OnGpu):
    """An array that can be copied to the host, as CuPy has it."""

    def __init__(self, array: Array) -> None:
        super().__init__(array if array.size > 0 else np.ones(1))
        self.array = self.__cuda_array_interface__["array"] = array
        self.__cuda_array_interface__["shape"] = self.shape = array.shape

    def get(self) -> Array:
        return self.array


def message(work: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises((TypeError, ValueError)) as error:
        work()
    return type(error.value), str(error.value)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(kind, wrong) for kind in (OnGpu, Copied) for wrong in WRONG if kind is Copied or wrong not in ONLY_ITS_LIBRARY],
)
def test_errors_are_those_of_an_array_of_the_host(kind: Any, wrong: str, gpu: str) -> None:
    solver = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.05), thermal=lbm.HybridThermal(0.05), device=gpu)
    solver.step(1)
    before = solver.populations()
    expected = message(lambda: solver.initialize(**WRONG[wrong]))  # type: ignore[arg-type]
    given = {name: kind(array) for name, array in WRONG[wrong].items()}
    assert message(lambda: solver.initialize(**given)) == expected
    np.testing.assert_array_equal(solver.populations(), before)


@pytest.mark.parametrize("value", [np.nan, 1.5, -1.5])
def test_errors_of_forces_are_those_of_an_array_of_the_host(value: float, gpu: str) -> None:
    wrong = with_one(value, (1, 3, 2, 4), STILL)
    domain = lbm.Domain(SHAPE)
    expected = message(lambda: lbm.Solver(domain, lbm.BGK(0.05), force=wrong, device=gpu))
    assert message(lambda: lbm.Solver(domain, lbm.BGK(0.05), force=OnGpu(wrong), device=gpu)) == expected
    solver = lbm.Solver(domain, lbm.BGK(0.05), force=STILL + 1e-4, device=gpu)

    def assign(force: Any) -> None:
        solver.force = force

    assert message(lambda: assign(OnGpu(wrong))) == message(lambda: assign(wrong)) == expected
    np.testing.assert_array_equal(solver.force, STILL + 1e-4)


def test_errors_of_heat_sources_are_those_of_an_array_of_the_host(gpu: str) -> None:
    solver = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.05), thermal=lbm.HybridThermal(0.05), device=gpu)

    def assign(source: Any) -> None:
        solver.heat_source = source

    for value in (np.nan, 2e6):
        wrong = with_one(value, (3, 2, 4), ONES)
        assert message(lambda: assign(OnGpu(wrong))) == message(lambda: assign(wrong))  # noqa: B023


@pytest.mark.parametrize("dtype", ["int32", "float16"])
def test_other_numbers_go_through_the_host(dtype: str, gpu: str, rng: Any) -> None:
    density = rng.integers(1, 4, SHAPE).astype(dtype)
    solvers = [lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.05), device=gpu) for _ in range(2)]
    solvers[0].initialize(density)
    solvers[1].initialize(Copied(density))  # type: ignore[arg-type]
    same(*solvers)


def test_uniform_values_may_be_on_a_gpu(gpu: str) -> None:
    solver = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.05), device=gpu)
    solver.force = Copied(np.array([1e-4, 0, 0]))
    np.testing.assert_array_equal(solver.force, [1e-4, 0, 0])


@direct
def test_only_some_numbers_go_to_the_host(gpu: str, rng: Any) -> None:
    """Those that checks look at, and the sum of the density; no field."""
    shape = (64, 16, 16)
    arrays = [OnGpu(field(rng, 0.9, 1.1, shape)), *(OnGpu(field(rng, -b, b, (3, *shape))) for b in (0.05, 1e-4))]
    solver = lbm.Solver(lbm.Domain(shape), lbm.BGK(0.05), device=gpu)
    solver.step(1)

    def give() -> None:
        solver.initialize(arrays[0], arrays[1])  # type: ignore[arg-type]
        solver.force = arrays[2]

    give()  # compiles, and allocates
    asked = requests(give)
    assert asked["bytes_to_host"] < 16 << 10
    assert asked["bytes_to_device"] == 0


@direct
def test_the_array_may_change_afterwards(gpu: str, rng: Any) -> None:
    force = field(rng, -1e-4, 1e-4, (3, *SHAPE), "float32")
    solver = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.05), device=gpu)
    given = OnGpu(force)
    solver.force = given
    del given  # its memory is filled with others then
    OnGpu(np.ones_like(force))
    np.testing.assert_array_equal(solver.force, force)
    solver.force = None
    assert solver.force is None
    solver.force = (1e-4, 0, 0) * lbm.Sine(period=100)
    solver.step(2)
    solver.force = OnGpu(force)
    solver.step(2)
    np.testing.assert_array_equal(solver.force, force)


@direct
def test_a_checkpoint_has_the_force_of_a_gpu(gpu: str, rng: Any, tmp_path: Any) -> None:
    force = field(rng, -1e-4, 1e-4, (3, *SHAPE))
    solver = lbm.Solver(box(SHAPE), lbm.BGK(0.05), force=OnGpu(force), device=gpu)
    solver.step(3)
    loaded = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device=gpu)
    same(solver, loaded)
    again = lbm.Solver(box(SHAPE), lbm.BGK(0.05), force=OnGpu(force), device=gpu)
    again.restore(tmp_path / "state.h5")
    again.step(4)
    np.testing.assert_array_equal(again.populations(), solver.populations())


@direct
def test_members_of_an_ensemble_take_them(gpu: str, rng: Any) -> None:
    velocities = [field(rng, -0.05, 0.05, (3, *SHAPE)) for _ in range(2)]
    forces = [field(rng, -1e-4, 1e-4, (3, *SHAPE), "float32") for _ in range(2)]
    ensembles = []
    for given in (lambda a: a, OnGpu):
        initial = [{"velocity": given(velocity)} for velocity in velocities]
        ensembles.append(
            lbm.Ensemble(lbm.Domain(SHAPE), lbm.BGK(0.05), force=list(map(given, forces)), initial=initial, device=gpu)
        )
        ensembles[-1].step(3)
    np.testing.assert_array_equal(ensembles[0].velocity(), ensembles[1].velocity())


@direct
@pytest.mark.parametrize("storage", ["float16", "float32"])
def test_warnings_are_those_of_an_array_of_the_host(storage: str, gpu: str) -> None:
    weak = with_one(1e-9, (0, 1, 1, 1), STILL)
    texts = []
    for given in (weak, OnGpu(weak)):
        solver = lbm.Solver(box(SHAPE), lbm.BGK(0.05), storage=storage, device=gpu)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            solver.force = given
        texts.append([str(warning.message) for warning in found])
    assert texts[0] == texts[1]
    assert len(texts[0]) == (storage == "float16")


@pytest.mark.parametrize("kind", ["field", "uniform"])
def test_a_force_without_memory_for_it_leaves_none(kind: str, gpu: str, rng: Any) -> None:
    """A force field times a function of time takes twice the memory of one in float32."""
    shape = (16, 12)
    force = field(rng, -1e-5, 1e-5, (2, *shape))
    solver = lbm.Solver(box(shape), lbm.TRT(0.05), force=force if kind == "field" else (1e-5, 0), device=gpu)
    solver.step(3)
    with full_memory(), pytest.raises((lbm.CudaError, MemoryError)):
        solver.force = force * lbm.Sine(period=9)
    assert solver.force is None
    solver.step(40)
    assert np.isfinite(solver.velocity()).all()
    solver.force = force * lbm.Sine(period=9)
    solver.step(3)
    assert np.isfinite(solver.velocity()).all()
