"""Collisions that users write: the value, what is refused and how, what is compiled when, and checkpoints."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.parallel.devices import look_for_compiler

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
BINGHAM = EXAMPLES / "bingham.h"
GIVEN = {"viscosity": 0.1, "yield_stress": 1e-4, "shear_rate": 2e-5}
BGK = (ROOT / "src" / "cpp" / "lattice" / "collisions" / "bgk.h").read_text().replace("BGK :", "OwnBGK :")
ASKS = BGK.replace(
    "static constexpr const char* name",
    """template <class S, class Given>
    static Parameters<double> parameters(const Given& given) {
        double shift[S::D], rates[2], ones[2] = {1, 1};
        given.vector("shift", shift, 0);
        given.rates("rates", [](int k) { return k == 0 ? "first" : "second"; }, 0, 2, rates, ones);
        const auto p = relaxation(given);
        return {p.omega * rates[0] + shift[0], given.at_least_zero("least", 0)};
    }
    static constexpr const char* name""",
)


def solver(collision: lbm.CustomCollision, stencil: str = "D2Q9", **options: Any) -> lbm.Solver:
    shape = (8, 6) if stencil.startswith("D2") else (8, 6, 5)
    options = {"device": "cpu", "threads": 1, "precision": "float64", **options}
    return lbm.Solver(lbm.Domain(shape, stencil), collision, **options)


def numbers(text: str, **given: Any) -> list[float]:
    collision = lbm.CustomCollision(text, {"viscosity": 0.1, **given})
    custom = {"name": collision.name, "file": collision.file, "text": collision.text}
    parameters = {"viscosity": 0.1, **given}
    return _core.custom_numbers(custom, parameters, stencil="D2Q9", precision="float32", storage="float32")


def test_it_is_a_value() -> None:
    made = lbm.CustomCollision(BINGHAM, GIVEN)
    assert (made.name, made.file, made.viscosity) == ("Bingham", str(BINGHAM), 0.1)
    same = lbm.CustomCollision(BINGHAM.read_text(), dict(GIVEN), name="Bingham")
    assert made == same
    assert hash(made) == hash(same)
    assert made != lbm.CustomCollision(BINGHAM, GIVEN | {"viscosity": 0.2})
    assert made != lbm.CustomCollision(BINGHAM.read_text() + "// another", GIVEN)
    two = BINGHAM.read_text().replace("struct Bingham", "struct Other : OneRate {};\nstruct Bingham")
    assert lbm.CustomCollision(two, GIVEN) != lbm.CustomCollision(two, GIVEN, name="Other")
    assert repr(made).startswith("CustomCollision(name='Bingham', parameters={'viscosity': 0.1, 'yield_stress': 0.0001")
    assert "\n" not in repr(made)
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert (again, again.file) == (made, str(BINGHAM))
    with pytest.raises(AttributeError):
        made.viscosity = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        made.given["viscosity"] = 1.0  # type: ignore[index]


def test_parameters_are_numbers_sequences_and_dicts() -> None:
    given = {"viscosity": np.float32(0.5), "shift": np.array([1, 2]), "rates": {"first": 1}}
    made = lbm.CustomCollision(BGK, given)
    assert made.given == {"viscosity": 0.5, "shift": (1.0, 2.0), "rates": {"first": 1.0}}
    assert made == pickle.loads(pickle.dumps(made))
    hash(made)


@pytest.mark.parametrize(
    ("header", "given", "name", "error"),
    [
        ("BGK", GIVEN, None, "header: 'BGK' given, must be C\\+\\+ text, or the path of a file that ends in '.h'"),
        (3, GIVEN, None, "header: 3 given, must be C\\+\\+ text, or the path"),
        (BGK + "\0", GIVEN, None, "without NUL"),
        (BGK, 0.1, None, "parameters: 0.1 given, must be a dict"),
        (BGK, {}, None, "parameters: no 'viscosity' given"),
        (BGK, {"viscosity": -1}, None, r"parameters\['viscosity'\]: -1.0 given, must be .* above 0"),
        (BGK, {"viscosity": 0.1, "shift": "x"}, None, r"parameters\['shift'\]: 'x' given"),
        (BGK, {"viscosity": 0.1, "rates": {"a": None}}, None, r"parameters\['rates'\]\['a'\]: None given"),
        (BGK, GIVEN, "a b", "name: 'a b' given, must be that of a struct"),
        ("int x;\n", GIVEN, None, "name: none given, but no struct of namespace lbm has a member such as"),
        (BGK + BGK.replace("Own", "Your"), GIVEN, None, "name: none given, but OwnBGK and YourBGK have a member"),
    ],
)
def test_wrong_arguments_are_named(header: Any, given: Any, name: str | None, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        lbm.CustomCollision(header, given, name)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.h"):
        lbm.CustomCollision("nowhere.h", GIVEN)


def test_stencils_with_an_energy_are_refused() -> None:
    with pytest.raises(ValueError, match="CustomCollision given with D2Q37, must be ThermalBGK; CustomCollision needs"):
        lbm.Solver(lbm.Domain((16, 16), "D2Q37"), lbm.CustomCollision(BGK, {"viscosity": 0.1}))


def test_a_struct_says_which_stencils_it_goes_with() -> None:
    text = BGK.replace(
        "static constexpr", "template <class S> static constexpr bool goes_with = S::D == 3;\nstatic constexpr", 1
    )
    collision = lbm.CustomCollision(text, {"viscosity": 0.1})
    with pytest.raises(ValueError, match="collision: 'OwnBGK' does not go with D2Q9, as its goes_with says"):
        solver(collision)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"viscosty": 1.0}, "viscosty: neither .* nor a parameter of collision 'OwnBGK', which takes .*viscosity"),
        ({"shift": [1, 2, 3]}, "shift: 2 components are needed"),
        ({"shift": 1}, "shift: 2 components are needed"),
        ({"rates": {"third": 1}}, "rates: 'third' is not one of .*first"),
        ({"rates": {"first": 3}}, "rates: 'first' is 3.0+, not between 0 and 2"),
        ({"least": -1}, "least: -1.0+ given, must be zero or positive"),
        ({"least": [1]}, "least: must be a number"),
        ({"shift": [-9, 0]}, "not finite, or no omega > 0"),
        ({"x" * 60: 1.0}, "must be shorter than 48 bytes"),
        ({"leest": 1.0}, "leest: neither .* which takes .*least"),
    ],
)
def test_parameters_are_checked_as_those_of_the_engines_own(given: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        numbers(ASKS, **given)


def test_parameters_are_what_its_function_makes() -> None:
    omega = 1 / (3 * 0.1 + 0.5)
    assert numbers(ASKS) == [omega, 0.0]
    assert numbers(ASKS, rates={"first": 0.5}, shift=[0.125, 0], least=0.25) == [omega * 0.5 + 0.125, 0.25]
    rate = ASKS.replace('at_least_zero("least"', 'rate_or_zero("least"')
    assert numbers(rate, least=1.5)[1] == 1.5
    with pytest.raises(ValueError, match=r"least: 2\.0+ given, must be below 2"):
        numbers(rate, least=2)
    assert numbers(BGK, smagorinsky=0.1)[1] == pytest.approx(18 * 2**0.5 * 0.01)


@pytest.mark.parametrize(
    ("old", "new", "given", "error"),
    [
        ("shift, 0)", "shift)", {}, "shift: collision 'OwnBGK' needs one; 2 components are needed"),
        ("rates, ones)", "rates)", {}, "rates: collision 'OwnBGK' needs a rate 'first'"),
        ("rates, ones)", "rates)", {"rates": {"first": 1}}, "rates: collision 'OwnBGK' needs a rate 'second'"),
        ('"least", 0', '"least"', {"lest": 1}, "lest: neither .* which takes .*least"),
        ("0, 2, rates", "2, 0, rates", {}, "rates: .*the last is before the first"),
    ],
)
def test_what_is_needed_and_not_given_is_named(old: str, new: str, given: dict[str, Any], error: str) -> None:
    text = ASKS.replace(old, new).replace('at_least_zero("least")', 'positive("least")')
    assert text != ASKS
    with pytest.raises(ValueError, match=error):
        numbers(text, **given)


def line_of(text: str) -> int:
    """The line of the header on which a text begins."""
    return BGK[: BGK.index(text)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("rate * n.odd[p];", "rate * n.old[p];", r"own\.h:LINE:\d+: error: .*old"),
        ("OwnBGK : OneRate", "OwnBGK", r"own\.h:LINE:\d+: error: .*a collision has goes_with"),
    ],
)
def test_what_does_not_compile_is_told_by_the_users_lines(old: str, new: str, error: str, tmp_path: Path) -> None:
    assert old in BGK
    header = tmp_path / "own.h"
    header.write_text(BGK.replace(old, new))
    with pytest.raises(lbm.CompileError, match=error.replace("LINE", str(line_of(old)))) as caught:
        solver(lbm.CustomCollision(header, {"viscosity": 0.1}))
    assert str(caught.value).startswith("collision: 'OwnBGK' does not compile for CPUs (g++")


def test_what_does_not_compile_for_a_gpu_is_told_by_the_users_lines(tmp_path: Path) -> None:
    look_for_compiler()
    header = tmp_path / "own.h"
    line = line_of("rate * n.odd[p];")
    header.write_text(BGK.replace("rate * n.odd[p];", "rate * n.old[p];"))
    collision = lbm.CustomCollision(header, {"viscosity": 0.1})
    with pytest.raises(lbm.CompileError, match=rf"for GPUs \(NVRTC [^)]*\):\n\S*/own\.h\({line}\): error: .*\"old\""):
        resources(collision, "D2Q9", "sm_90", numbers=[1.25, 0.0])


def resources(
    collision: lbm.CustomCollision,
    stencil: str,
    architecture: str,
    numbers: Sequence[float] | None = None,
    **options: Any,
) -> list[str]:
    kinds = {"precision": "float32", "storage": "float32", **options}
    if numbers is None:
        given = collision.parameters(_core.stencil(stencil))
        numbers = _core.custom_numbers(collision.engine_text(), given, stencil=stencil, **kinds)
    custom = collision.engine_text() | {"numbers": numbers}
    kinds |= {"streaming": "in-place", "size": 512, "architecture": architecture}
    return _core.custom_resources(custom, stencil=stencil, **kinds)


@pytest.mark.parametrize(
    ("stencil", "options"), [("D2Q9", {}), ("D3Q19", {}), ("D3Q19", {"storage": "float16"}), ("D3Q27", {})]
)
def test_kernels_for_gpus_stay_in_registers(stencil: str, options: dict[str, str]) -> None:
    look_for_compiler()
    for log in resources(lbm.CustomCollision(BINGHAM, GIVEN), stencil, "sm_90", **options)[1:]:
        assert " 0 bytes spill stores, 0 bytes spill loads" in log, log


def test_one_of_the_engines_takes_as_many_registers_written_as_ones_own() -> None:
    look_for_compiler()
    own = resources(lbm.CustomCollision(BGK, {"viscosity": 0.1}), "D3Q19", "sm_90")[1:]
    numbers = ("float32", "float32", "in-place")
    engines = _core.cuda_update_resources("D3Q19", "bgk", *numbers, False, 0, False, 7, 512, "sm_90")

    def used(logs: list[str]) -> list[str]:
        return [line.split(",")[0] for log in logs for line in log.splitlines() if "registers" in line]

    assert len(used(own)) == 2
    assert used(own) == used(engines)


def test_checkpoints_hold_the_text_and_refuse_another(tmp_path: Path) -> None:
    own = lbm.CustomCollision(BGK, {"viscosity": 0.1})
    made = solver(own)
    made.initialize(velocity=lambda x, y: (0.01 * np.sin(x), 0.01 * np.cos(y)))
    made.step(3)
    path = made.save(tmp_path / "state.h5")
    with pytest.raises(lbm.CheckpointError, match="CustomCollision 'OwnBGK', and the text in a file is never"):
        lbm.Solver.load(path, device="cpu")
    again = lbm.Solver.load(path, collision=own, device="cpu", threads=1)
    for both in (made, again):
        both.step(2)
    np.testing.assert_array_equal(made.populations(), again.populations())
    other = lbm.CustomCollision(BGK + "// another\n", {"viscosity": 0.1})
    with pytest.raises(
        lbm.CheckpointError,
        match=r"collision\.text: the texts differ, first in line \d+: '' in the file, .*// another' here",
    ):
        lbm.Solver.load(path, collision=other, device="cpu")
    with pytest.raises(lbm.CheckpointError, match=r"collision\.text: the texts differ"):
        solver(other).restore(path)
    with pytest.raises(lbm.CheckpointError, match=r"collision\.parameters\.viscosity: the file has 0\.1, .* has 0\.2"):
        solver(lbm.CustomCollision(BGK, {"viscosity": 0.2})).restore(path)
    with pytest.raises(lbm.CheckpointError, match=r"collision\.model: the file has 'custom', this solver has 'bgk'"):
        lbm.Solver.load(path, collision=lbm.BGK(0.1), device="cpu")


def test_a_collision_of_the_engine_may_be_given_to_load_too(tmp_path: Path) -> None:
    made = lbm.Solver(lbm.Domain((8, 6), "D2Q9"), lbm.TRT(0.1), device="cpu")
    path = made.save(tmp_path / "state.h5")
    assert lbm.Solver.load(path, collision=lbm.TRT(0.1), device="cpu").collision == lbm.TRT(0.1)
    with pytest.raises(lbm.CheckpointError, match=r"collision\.viscosity"):
        lbm.Solver.load(path, collision=lbm.TRT(0.2), device="cpu")
    with pytest.raises(TypeError, match=r"collision: 3 given, must be .* CustomCollision"):
        lbm.Solver.load(path, collision=3, device="cpu")  # type: ignore[arg-type]


def test_cases_and_the_command_line_refuse_it_by_name(tmp_path: Path) -> None:
    case = json.loads((EXAMPLES / "cavity_2d.json").read_text())
    case["collision"]["model"] = "CustomCollision"
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    for arguments in (["run", str(path)], ["bench", "--collision", "CustomCollision"]):
        done = subprocess.run([sys.executable, "-m", "lbmgpu", *arguments], capture_output=True, text=True)
        assert done.returncode != 0
        assert "'CustomCollision'" in done.stderr


def test_a_layout_is_planned_for_it_too() -> None:
    own = solver(lbm.CustomCollision(BGK, {"viscosity": 0.1}), layout="auto")
    assert len(own.layout) == 1
