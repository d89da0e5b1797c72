"""Wrong arguments: each a TypeError or ValueError that names the argument, and no engine made."""

from __future__ import annotations

import copy
import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from reference.registry import FLOW_STENCILS

import lbmgpu as lbm
from lbmgpu import _core

from .support import cavity, cube, not_finite, not_numbers, not_positive

many = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
WRONG = (TypeError, ValueError, lbm.CudaError)


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if an engine is made."""
    real = _core.Engine

    class Refuses:
        memory_needed = staticmethod(real.memory_needed)

        def __init__(self, **_: Any) -> None:
            pytest.fail("an engine was allocated")

    monkeypatch.setattr(_core, "Engine", Refuses)


@many
@given(value=st.one_of(not_numbers, not_finite, not_positive), kind=st.sampled_from([lbm.BGK, lbm.TRT, lbm.MRT]))
def test_viscosity(value: Any, kind: Any) -> None:
    with pytest.raises(WRONG, match="viscosity"):
        kind(value)


@many
@given(value=st.one_of(not_numbers, not_finite, not_positive), kind=st.sampled_from([lbm.TRT, lbm.CentralMoments]))
def test_magic(value: Any, kind: Any) -> None:
    with pytest.raises(WRONG, match="magic"):
        kind(0.1, magic=value)


@many
@given(value=st.one_of(not_numbers.filter(lambda v: v is not None), not_finite, st.floats(max_value=-1e-9), st.just(2)))
def test_least_odd_rate(value: Any) -> None:
    with pytest.raises(WRONG, match="least_odd_rate"):
        lbm.CentralMoments(0.1, least_odd_rate=value)


@many
@given(value=st.one_of(not_numbers.filter(lambda v: v is not None), not_finite, st.floats(max_value=-1e-9)))
def test_smagorinsky(value: Any) -> None:
    with pytest.raises(WRONG, match="smagorinsky"):
        lbm.Regularized(0.1, smagorinsky=value)


@pytest.mark.parametrize("rates", [None, {"e": 1.3, "pi": 1.1}])
def test_collisions_are_values(rates: dict[str, float] | None) -> None:
    """They print as what makes them, and go through pickle and copy."""
    collision = lbm.MRT(0.1, rates=rates, smagorinsky=0.1)
    assert eval(repr(collision), {"MRT": lbm.MRT}) == collision
    assert pickle.loads(pickle.dumps(collision)) == collision
    assert copy.deepcopy(collision) == collision
    assert hash(copy.copy(collision)) == hash(collision)


@many
@given(
    rates=st.one_of(
        st.integers(),
        st.lists(st.floats(), min_size=1),
        st.dictionaries(
            st.sampled_from(["e", "q"]), st.one_of(not_numbers, not_finite, not_positive, st.just(2)), min_size=1
        ),
        st.dictionaries(st.integers(), st.floats(0.1, 1.9), min_size=1),
    )
)
def test_rates(rates: Any) -> None:
    with pytest.raises(WRONG, match="rates"):
        lbm.MRT(0.1, rates=rates)


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
@pytest.mark.parametrize("name", ["nu", "conserved", "speed", ""])
def test_unknown_rate(stencil: str, name: str) -> None:
    domain = lbm.Domain((4,) * lbm.stencil(stencil).D, stencil)
    with pytest.raises(ValueError, match="rates"):
        lbm.Solver(domain, lbm.MRT(0.1, rates={name: 1.0}))


@many
@given(
    shape=st.one_of(
        not_numbers,
        st.integers(),
        st.lists(st.integers(1, 9), max_size=6).filter(lambda v: len(v) != 3),
        st.tuples(st.integers(max_value=0), st.integers(1, 9), st.integers(1, 9)),
        st.tuples(st.integers(1, 9), st.integers(2**30 + 1, 10**400), st.integers(1, 9)),
        st.tuples(st.integers(1, 9), st.integers(1, 9), st.one_of(not_numbers, st.floats(), not_finite)),
        st.just((2**20, 2**20, 2**20)),
    )
)
def test_shape(shape: Any) -> None:
    with pytest.raises(WRONG, match="shape"):
        lbm.Domain(shape, "D3Q19")


@many
@given(name=st.one_of(not_numbers.filter(lambda v: v not in FLOW_STENCILS), st.just("D3Q19 ")))
def test_stencil(name: Any) -> None:
    with pytest.raises(WRONG, match="stencil"):
        lbm.Domain((4, 4, 4), name)


def test_two_dimensional_stencil_takes_two_dimensional_shape() -> None:
    with pytest.raises(ValueError, match="must be 2 positive integers for D2Q9"):
        lbm.Domain((4, 4, 4), "D2Q9")


@pytest.mark.parametrize(("shape", "stencil", "right"), [((4, 4), "D3Q19", "D2Q9"), ((4, 4, 4), "D2Q9", "D3Q19")])
def test_shape_of_other_dimensions_suggests_a_stencil(shape: tuple[int, ...], stencil: str, right: str) -> None:
    with pytest.raises(ValueError, match=rf'for {len(shape)} dimensions use stencil="{right}"$'):
        lbm.Domain(shape, stencil)


def test_shape_without_brackets_suggests_a_tuple() -> None:
    with pytest.raises(TypeError, match=r"^shape: 16, 20 given, must be a tuple: Domain\(\(16, 20\), "):
        lbm.Domain(16, 20)  # type: ignore[arg-type]


def test_shape_of_no_stencil_suggests_none() -> None:
    with pytest.raises(ValueError, match=r"must be 3 positive integers for D3Q19$"):
        lbm.Domain((4, 4, 4, 4))


def test_longest_axis() -> None:
    assert lbm.Domain((2**30, 1), "D2Q9").shape == (2**30, 1)
    with pytest.raises(ValueError, match=rf"shape\[0\]: .* must be an integer from 1 to {2**30}"):
        lbm.Domain((2**30 + 1, 1), "D2Q9")


@many
@given(face=st.one_of(not_numbers.filter(lambda v: v not in ("-x", "+x", "-y", "+y")), st.sampled_from(["+z", "x-"])))
def test_face_name(face: Any) -> None:
    with pytest.raises(ValueError, match=r"face: .* must be one of '-x', '\+x', '-y', '\+y'"):
        lbm.Domain((4, 4), "D2Q9").faces[face]


@many
@given(value=st.one_of(not_numbers, st.sampled_from([lbm.NoSlip, "no-slip", lbm.BGK(0.1)])))
def test_face_condition(value: Any) -> None:
    with pytest.raises(TypeError, match=r"faces\['-x'\].*must be"):
        lbm.Domain((4, 4), "D2Q9").faces["-x"] = value


def test_faces_cannot_be_deleted() -> None:
    domain = lbm.Domain((4, 4), "D2Q9")
    with pytest.raises(TypeError, match="Periodic"):
        del domain.faces["-x"]


@many
@given(
    value=st.one_of(
        not_numbers.filter(lambda v: not isinstance(v, list) or not v or not all(map(math.isfinite, v))),
        not_finite,
        st.floats(-0.1, 0.1),
        st.lists(st.one_of(not_finite, st.text(), st.none()), min_size=1),
        st.just([[0.1], [0.1, 0.2]]),
    ),
    kind=st.sampled_from([lbm.MovingWall, lbm.VelocityInlet]),
)
def test_velocity_value(value: Any, kind: Any) -> None:
    with pytest.raises(WRONG, match="velocity"):
        kind(value)


@many
@given(shape=st.lists(st.integers(1, 6), min_size=1, max_size=4).filter(lambda s: tuple(s) not in [(3,), (3, 5, 6)]))
def test_velocity_shape(shape: list[int]) -> None:
    with pytest.raises(ValueError, match=r"velocity of faces\['-x'\]: shape"):
        lbm.Domain((4, 5, 6)).faces["-x"] = lbm.VelocityInlet(np.zeros(shape))


@many
@given(speed=st.one_of(st.floats(0.1733), st.floats(max_value=-0.1733)).filter(math.isfinite))
def test_speed(speed: float) -> None:
    domain = lbm.Domain((4, 4), "D2Q9")
    for condition in (lbm.MovingWall((speed, 0)), lbm.VelocityInlet((0, speed))):
        with pytest.raises(ValueError, match=r"velocity of faces\['\+y'\].*Mach"):
            domain.faces["+y"] = condition


@many
@given(value=st.one_of(not_numbers.filter(lambda v: not isinstance(v, list) or not v), not_finite, not_positive))
def test_outlet_density(value: Any) -> None:
    with pytest.raises(WRONG, match="density"):
        lbm.PressureOutlet(value)


def outside(_: Any, y: Any) -> tuple[Any, float]:
    """A velocity above the limit in a part of the face."""
    return np.where(y > 3, 0.5, 0.0), 0.0


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: (0, 0), "must take"),
        (lambda x, y, z: (0, 0), "must take"),
        (lambda x, y: 0.1, "2 components"),
        (lambda x, y: (0.1,), "2 components"),
        (lambda x, y: (0.1, "a"), "real numbers"),
        (lambda x, y: (np.nan, 0), "finite"),
        (lambda x, y: (np.zeros(3), 0), "shape"),
        (lambda x, y: None, "2 components"),
        (lambda x, y, t: (0.5, 0), "Mach"),
        (outside, "Mach"),
    ],
)
def test_velocity_callable(function: Any, message: str) -> None:
    domain = lbm.Domain((4, 4), "D2Q9")
    domain.faces["-x"] = lbm.VelocityInlet(function)
    domain.faces["+x"] = lbm.Outflow()
    with pytest.raises(WRONG, match=rf"velocity of faces\['-x'\].*{message}"):
        lbm.Solver(domain, lbm.BGK(0.1))


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros((4, 5), dtype=int), "bool"),
        (np.zeros((5, 4), dtype=bool), "shape"),
        (np.zeros((4, 5), dtype=bool), "no cell"),
        (np.ones((4, 5), dtype=bool), "no fluid cell"),
        (None, "bool"),
        ("mask", "bool"),
    ],
)
def test_mask(mask: Any, message: str) -> None:
    with pytest.raises(WRONG, match=f"mask.*{message}"):
        lbm.Domain((4, 5), "D2Q9").add_body(mask)


def test_bodies_are_apart() -> None:
    domain = lbm.Domain((8, 8), "D2Q9")
    domain.add_body(cube((8, 8)), "first")
    with pytest.raises(ValueError, match=r"name.*first"):
        domain.add_body(cube((8, 8), 5, 6), "first")
    with pytest.raises(ValueError, match=r"overlaps body 'first'.*\(3, 3\)"):
        domain.add_body(cube((8, 8), 3, 5), "second")
    with pytest.raises(TypeError, match="NoSlip"):
        domain.add_body(cube((8, 8), 5, 6), "second", lbm.Outflow())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Mach"):
        domain.add_body(cube((8, 8), 5, 6), "second", lbm.MovingWall((0.2, 0)))
    assert list(domain.bodies) == ["first"]


options = st.one_of(
    st.fixed_dictionaries({"precision": st.one_of(not_numbers, st.sampled_from(["float16", "double", "Float32"]))}),
    st.fixed_dictionaries({"storage": st.one_of(st.integers(), st.sampled_from(["float64", "half", "float 32"]))}),
    st.fixed_dictionaries(
        {"streaming": st.one_of(not_numbers.filter(lambda v: v is not None), st.sampled_from(["inplace", "AA"]))}
    ),
    st.fixed_dictionaries(
        {"device": st.one_of(not_numbers, st.sampled_from(["cuda:99", "cuda:x", "gpu", ["gpu"], []]))}
    ),
    st.fixed_dictionaries({"layout": st.one_of(st.integers(), st.lists(st.integers()))}),
    st.fixed_dictionaries({"comm": st.one_of(st.integers(), st.builds(object))}),
    st.fixed_dictionaries(
        {"threads": st.one_of(not_numbers.filter(lambda v: v is not None), not_finite, st.integers(max_value=0))}
    ),
    st.fixed_dictionaries(
        {
            "force": st.one_of(
                not_numbers.filter(lambda v: v is not None and (not isinstance(v, list) or len(v) != 2)),
                not_finite,
                st.just((2, 0)),
                st.just(np.zeros((2, 3, 3))),
                st.just(lambda x, y, t: (0, 0)),
            )
        }
    ),
)


@pytest.mark.usefixtures("no_engine")
@many
@given(option=options)
def test_solver_option(option: dict[str, Any]) -> None:
    (name,) = option
    with pytest.raises(WRONG, match=name):
        lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), **option)


@pytest.mark.usefixtures("no_engine")
@pytest.mark.parametrize("collision", [None, 0.1, "BGK", lbm.BGK])
def test_solver_collision(collision: Any) -> None:
    with pytest.raises(TypeError, match="collision"):
        lbm.Solver(lbm.Domain((4, 4), "D2Q9"), collision)


@pytest.mark.usefixtures("no_engine")
def test_solver_domain() -> None:
    with pytest.raises(TypeError, match="domain"):
        lbm.Solver((4, 4), lbm.BGK(0.1))  # type: ignore[arg-type]


@pytest.mark.usefixtures("no_engine")
def test_periodic_faces_come_in_pairs() -> None:
    domain = lbm.Domain((4, 4), "D2Q9")
    domain.faces["-y"] = lbm.NoSlip()
    with pytest.raises(ValueError, match=r"'-y' is NoSlip and '\+y' is Periodic"):
        lbm.Solver(domain, lbm.BGK(0.1))


@pytest.mark.usefixtures("no_engine")
def test_memory_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"shape: .* GiB .*what would fit: shape \(\d+, \d+, \d+\)"):
        lbm.Solver(lbm.Domain((60000, 30000, 2000)), lbm.BGK(0.1))


@pytest.mark.usefixtures("no_engine")
def test_memory_hint_names_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (64, 64, 64)
    both = _core.Engine.memory_needed("D3Q19", shape, "float32", "float32", "two-lattice")["cpu"]
    monkeypatch.setattr("lbmgpu.engine.memory.available_memory", lambda device: both - 1)
    with pytest.raises(ValueError, match=r"in-place.*float16"):
        lbm.Solver(lbm.Domain(shape), lbm.BGK(0.1), streaming="two-lattice")


@pytest.fixture(scope="module")
def solver() -> lbm.Solver:
    """A solver whose methods are called wrongly."""
    domain = cavity()
    domain.add_body(cube((8, 6, 5)), "cube")
    return lbm.Solver(domain, lbm.BGK(0.1))


counts = st.one_of(not_numbers, not_finite, st.floats(), st.integers(max_value=-1), st.integers(2**53 + 1, 10**400))


@many
@given(steps=counts)
def test_steps(solver: lbm.Solver, steps: Any) -> None:
    for method in (solver.step, solver.run):
        with pytest.raises(WRONG, match="steps"):
            method(steps)


@many
@given(value=st.one_of(counts, st.just(0)))
def test_every(value: Any) -> None:
    with pytest.raises(WRONG, match="every"):
        lbm.Steady(1e-5, every=value)
    with pytest.raises(WRONG, match="every"):
        lbm.Checkpoint("file.h5", every=value)
    with pytest.raises(WRONG, match="every"):
        lbm.Every(value, print)


@many
@given(value=st.one_of(not_numbers, not_finite, not_positive))
def test_tolerance(value: Any) -> None:
    with pytest.raises(WRONG, match="tolerance"):
        lbm.Steady(value)


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ({"until": 1e-5}, "until"),
        ({"progress": 1}, "progress"),
        ({"callbacks": [print]}, "callbacks"),
        ({"callbacks": lbm.Every(1, print)}, r"callbacks.*must be a list: \[Every\(\.\.\.\)\]"),
        ({"callbacks": lbm.Checkpoint("a.h5", 1)}, r"callbacks.*must be a list: \[Checkpoint\(\.\.\.\)\]"),
    ],
)
def test_run_option(solver: lbm.Solver, option: dict[str, Any], name: str) -> None:
    with pytest.raises(TypeError, match=name):
        solver.run(1, **option)


@many
@given(
    value=st.one_of(
        not_numbers.filter(lambda v: v is not None and not isinstance(v, list)),
        not_finite,
        not_positive,
        st.just(np.ones((6, 8, 5))),
        st.just(lambda x, y, z: x - 1),
    )
)
def test_initial_density(solver: lbm.Solver, value: Any) -> None:
    with pytest.raises(WRONG, match="density"):
        solver.initialize(density=value)


@many
@given(
    value=st.one_of(
        not_numbers.filter(lambda v: v is not None and not isinstance(v, list)),
        not_finite,
        st.floats(-0.1, 0.1),
        st.just((0.1, 0.1)),
        st.just((0.15, 0.15, 0)),
        st.just(np.zeros((8, 6, 5, 3))),
        st.just(lambda x, y, z: (x, y)),
    )
)
def test_initial_velocity(solver: lbm.Solver, value: Any) -> None:
    with pytest.raises(WRONG, match="velocity"):
        solver.initialize(velocity=value)


@many
@given(name=st.one_of(not_numbers, st.just("Cube")))
def test_body_name(solver: lbm.Solver, name: Any) -> None:
    for method in (solver.body_force, solver.body_torque):
        with pytest.raises(WRONG, match=r"name: ('[+-][xyz]' given, a face|.*'cube')"):
            method(name)


def test_no_bodies_at_all() -> None:
    solver = lbm.Solver(cavity(), lbm.BGK(0.1))
    for method in (solver.body_force, solver.body_torque):
        with pytest.raises(ValueError, match="name: 'x' given, but the domain has no bodies"):
            method("x")


@pytest.mark.parametrize("device", ["gpu", "GPU:1", "CUDA", "cuda0"])
def test_device_by_another_name(device: str) -> None:
    with pytest.raises(ValueError, match=rf"device: '{device}' given, must be 'auto', .*; did you mean 'cuda'\?"):
        lbm.Solver(cavity(), lbm.BGK(0.1), device=device)


@pytest.mark.parametrize("center", [0, (0, 0), (0, 0, np.nan), "origin"])
def test_torque_center(solver: lbm.Solver, center: Any) -> None:
    with pytest.raises(WRONG, match="center"):
        solver.body_torque("cube", center)


@pytest.mark.parametrize("path", [None, 3, ["a"]])
def test_paths(solver: lbm.Solver, path: Any) -> None:
    for method in (solver.save, solver.restore, solver.write_vtk, lbm.Solver.load):
        with pytest.raises(TypeError, match="path"):
            method(path)


def test_folder_that_is_not_there(solver: lbm.Solver, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    for method, name in ((solver.save, "x.h5"), (solver.write_vtk, "x.vti"), (solver.write_vtk, "x")):
        with pytest.raises(FileNotFoundError, match=f"path: .*no folder {re.escape(str(missing))};"):
            method(missing / name)
    (tmp_path / "link.h5").symlink_to(missing / "x.h5")
    with pytest.raises(FileNotFoundError, match=re.escape(str(missing))):
        solver.save(tmp_path / "link.h5")
    assert [path.name for path in tmp_path.iterdir()] == ["link.h5"]


@pytest.mark.parametrize("name", ["x.vtk", "x.h5", "x.VTI", "x.vti.gz"])
def test_image_has_no_other_ending(solver: lbm.Solver, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"path: .*VTK image.*\.vti"):
        solver.write_vtk(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "written"),
    [("x", "x.vti"), ("x.vti", "x.vti"), ("x.10", "x.10.vti"), ("x.10.vti", "x.10.vti"), ("x.", "x..vti")],
)
def test_ending_of_an_image(solver: lbm.Solver, tmp_path: Path, name: str, written: str) -> None:
    assert solver.write_vtk(tmp_path / name) == tmp_path / written
    assert [path.name for path in tmp_path.iterdir()] == [written]


def test_path_without_a_name(solver: lbm.Solver) -> None:
    for method in (solver.save, solver.write_vtk):
        with pytest.raises(ValueError, match=r"path: .* must name a file"):
            method("")


def test_errors_suggest_the_near_name(solver: lbm.Solver) -> None:
    with pytest.raises(ValueError, match="did you mean 'cube'"):
        solver.body_force("cub")
    with pytest.raises(ValueError, match="did you mean 'two-lattice'"):
        lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), streaming="two lattice")
