"""The engine called directly with nonsense: every argument is refused by an exception, before anything is changed."""

from __future__ import annotations

import copy
import os
import pickle
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from lbmgpu import _core

NAN, INF = float("nan"), float("inf")


def engine(**changes: Any) -> _core.Engine:
    given: dict[str, Any] = {"stencil": "D3Q19", "shape": [4, 5, 6], "collision": "bgk", "viscosity": 0.1, "threads": 1}
    return _core.Engine(**(given | changes))


@pytest.mark.parametrize("axes", [0, 1, 4, 8, 1000])
def test_numbers_of_axes_other_than_two_and_three_are_refused(axes: int) -> None:
    shape, whole = [4] * axes, [([0] * axes, [4] * axes, 0, "cpu")]
    with pytest.raises(ValueError, match=f"shape: {axes} sizes given, must be 2 or 3"):
        _core.check_layout(shape, whole)
    for blocks in ([], whole):
        with pytest.raises(ValueError, match="shape: "):
            engine(shape=shape, blocks=blocks, faces=["periodic"] * (2 * axes))
        with pytest.raises(ValueError, match="shape: "):
            _core.Engine.memory_needed("D3Q19", shape, "float32", "float32", "in-place", blocks=blocks)
    with pytest.raises(ValueError, match="shape: "):
        _core.cuda_tune(
            "D2Q9", shape, "bgk", "float32", "float32", "in-place", False, False, True, ordinal=0, seconds=0.1
        )


@pytest.mark.parametrize("axes", [0, 2, 8])
def test_blocks_with_another_number_of_axes_are_refused(axes: int) -> None:
    with pytest.raises(ValueError, match="layout: the offset and size of a block take 3 numbers"):
        _core.check_layout([4, 5, 6], [([0] * axes, [4] * axes, 0, "cpu")])


@pytest.mark.parametrize("shape", [[2**31 - 1] * 3, [2**30] * 3, [0, 4, 4], [-4, -4, 4], [2**30, 2**30, 1]])
def test_sizes_that_wrap_are_refused(shape: list[int]) -> None:
    for call in (
        lambda: _core.check_layout(shape, [([0, 0, 0], shape, 0, "cpu")]),
        lambda: engine(shape=shape),
        lambda: _core.Engine.memory_needed("D3Q19", shape, "float64", "float64", "two-lattice"),
    ):
        with pytest.raises(ValueError, match="shape: "):
            call()


def test_a_lattice_larger_than_the_machine_is_a_memory_error_at_once() -> None:
    shape = [2**14] * 3
    needed = _core.Engine.memory_needed("D3Q19", shape, "float32", "float32", "in-place")["cpu"]
    assert 2**42 * 76 < needed < 2**42 * 90
    with pytest.raises(MemoryError):
        engine(shape=shape)


@pytest.mark.parametrize("name", ["D2Q9", "D3Q19", "D3Q27"])
def test_rates_out_of_range_are_refused(name: str) -> None:
    """Of third order in the moving frame: 2 would not relax at all, and above it grow."""
    given: dict[str, Any] = {"stencil": name, "shape": [4, 5, 6][: int(name[1])], "collision": "central-moments"}
    for rate in (-0.1, 2.0, 2.5, NAN, INF):
        with pytest.raises(ValueError, match=r"least_odd_rate: .* given, must be"):
            engine(**given, least_odd_rate=rate)
    for magic in (0, -1, NAN):
        with pytest.raises(ValueError, match="magic: "):
            engine(**given, magic=magic)
    engine(**given, least_odd_rate=1.999)
    assert engine(**given).steps == 0  # has the rate of its stencil
    for viscosity, least in ((0.01, 0), (1e-3, 0.015), (1e-4, 0.195), (1e-5, 0.6)):
        assert _core.least_odd_rate(name, viscosity) == pytest.approx(0.6 if name == "D3Q19" else least)


@pytest.mark.parametrize("steps", [-1, 2**53 - 9, 2**62, 2**63 - 1, -(2**63)])
def test_steps_that_cannot_be_counted_are_refused(steps: int) -> None:
    one = engine()
    one.step(10)
    with pytest.raises(ValueError, match="steps: "):
        one.step(steps)
    if steps != 2**53 - 9:
        with pytest.raises(ValueError, match="steps: "):
            one.steps = steps
    assert one.steps == 10


@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    for name in ("viscosity", "magic", "smagorinsky"):
        with pytest.raises(ValueError, match=name):
            engine(**{name: value})
    thermal: dict[str, Any] = {"diffusivity": 0.1}
    for name in ("diffusivity", "energy_coupling"):
        with pytest.raises(ValueError, match=name):
            engine(thermal=thermal | {name: value})
    with pytest.raises(ValueError, match="buoyancy"):
        engine(thermal=thermal | {"buoyancy": [0, 0, value]})
    one = engine(faces=["moving-wall", "pressure-outlet"] + ["periodic"] * 4, thermal=thermal)
    field = np.full((6, 5, 4), value)
    for call in (
        lambda: one.set_force(np.array([0, 0, value])),
        lambda: one.set_face_velocity(0, np.array([0, 0, value])),
        lambda: one.set_face_number(1, np.array(value)),
        lambda: one.set_heat_source(np.array(value)),
        lambda: one.initialize(field, None, False),
        lambda: one.initialize(None, np.stack([field] * 3), False),
        lambda: one.initialize(None, None, False, field),
        lambda: one.add_body(np.ones((6, 5, 4), bool), np.array([0, 0, value])),
    ):
        with pytest.raises(ValueError, match="not finite"):
            call()
    with pytest.raises(ValueError, match="reference density"):
        one.reference_density = value


@pytest.mark.parametrize(
    "thermal", [{3: 1}, {"diffusivity": "x"}, {"diffusivity": 0.1, "buoyancy": 3}, {"diffusivity": 0.1, "faces": 1}]
)
def test_a_thermal_setup_of_wrong_types_is_a_type_error(thermal: dict[Any, Any]) -> None:
    with pytest.raises(TypeError, match="thermal: "):
        engine(thermal=thermal)


def test_arrays_that_are_not_aligned_are_refused_or_copied() -> None:
    one = engine()
    out = np.zeros(4 * 5 * 6 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(6, 5, 4)
    with pytest.raises(ValueError, match="out: an aligned C-contiguous array"):
        one.density(out)
    out[:] = 1.5
    one.initialize(out, None, False)
    density = np.empty((6, 5, 4))
    one.density(density)
    assert np.allclose(density, 1.5)


@pytest.mark.parametrize("kind", [">f8", "f2", "i4", "c16", "O"])
def test_arrays_of_other_numbers_are_not_written(kind: str) -> None:
    with pytest.raises(ValueError, match="float32 or float64"):
        engine().density(np.zeros((6, 5, 4), kind))


@pytest.mark.parametrize("name", ["Communicator", "DeviceArray", "Engine", "Exchange", "GpuArray", "Stencil"])
def test_objects_that_were_never_constructed_cannot_be_had(name: str) -> None:
    given = getattr(_core, name)
    for make in (given, lambda: given.__new__(given), lambda: object.__new__(given), type("Own", (given,), {})):
        with pytest.raises(TypeError):
            make()
    if name == "Engine":
        incomplete = type("Own", (given,), {"__init__": lambda self: None})
        for make in (incomplete, lambda: copy.copy(engine()), lambda: pickle.dumps(engine())):
            with pytest.raises(TypeError):
                make()


def test_an_engine_that_is_constructed_again_stays_whole() -> None:
    one = engine()
    one.step(3)
    with suppress(TypeError):
        one.__init__()  # type: ignore[misc]
    one.__init__(stencil="D2Q9", shape=[4, 4], collision="bgk", viscosity=0.1, threads=1)  # type: ignore[misc]
    field = np.empty(one.window[1][::-1])
    one.step(1)
    one.density(field)
    assert np.allclose(field, 1)


def test_wrong_numbers_of_measurements_are_refused() -> None:
    for bytes, threads, repeats in ((0, 1, 1), (1024, 0, 1), (1024, 1, 0), (1024, 1, -1)):
        with pytest.raises(ValueError, match="inplace_stream_scale"):
            _core.inplace_stream_scale(bytes, threads, repeats)
    with pytest.raises(MemoryError):
        _core.inplace_stream_scale(2**62, 1, 1)
    for bytes, repeats in ((0, 1), (2**40, 1), (2**20, 0)):
        with pytest.raises(ValueError, match="link_bandwidth"):
            _core.link_bandwidth("cpu", "cpu", bytes, repeats)


@pytest.mark.parametrize("name", [-1, 4, 2**31 - 1])
def test_fields_that_are_none_are_refused(name: int) -> None:
    with pytest.raises(IndexError, match="field"):
        _core.device_field(engine(), name)


def need_compiler() -> None:
    """Skip the test where there is no NVRTC, or fail it where a GPU is required."""
    try:
        _core.cuda_compiler()
    except _core.CudaError as error:
        if os.environ.get("LBMGPU_REQUIRE_GPU") == "1":
            pytest.fail(str(error))
        pytest.skip("no NVRTC")


@pytest.mark.parametrize("architecture", ["", "sm_", "sm", "sm_x", "sm_-1", "sm_99999999999", "90"])
def test_architectures_that_are_none_are_refused(architecture: str) -> None:
    need_compiler()
    with pytest.raises(ValueError, match=f"architecture: '{architecture}' given"):
        _core.cuda_kernel_resources("update.h", "x", architecture)


@pytest.mark.parametrize("header", ["", "../x.h", "/etc/passwd", 'update.h"\n#error "'])
def test_headers_that_are_not_the_kernels_are_refused(header: str) -> None:
    need_compiler()
    with pytest.raises(ValueError, match="header: "):
        _core.cuda_kernel_resources(header, "x", "sm_90")
