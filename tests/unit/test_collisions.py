"""The table of the collisions: all that the engine has, each with its class."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from reference.registry import FLOW_STENCILS

import lbmgpu as lbm
from lbmgpu import _core, checks, cli
from lbmgpu.case import read as case_file
from lbmgpu.case.build import build_collision
from lbmgpu.collision_table import BY_KIND, COLLISIONS, case_parameters, check_pair, of_stencil


def test_table_holds_the_collisions_of_the_engine_in_their_order() -> None:
    assert list(BY_KIND) == _core.collision_names()
    assert [each.kind for each in COLLISIONS.values()] == _core.collision_names()


def test_collisions_of_a_stencil() -> None:
    assert of_stencil("D3Q27")[0] is lbm.BGK
    assert lbm.ThermalBGK not in of_stencil("D3Q27")
    assert of_stencil("D2Q37") == [lbm.ThermalBGK]
    right = checks.alternatives([repr(name) for name in FLOW_STENCILS])
    with pytest.raises(ValueError, match=rf"BGK given with D2Q37, must be ThermalBGK; BGK needs .* {right}"):
        check_pair("D2Q37", lbm.BGK)


def test_a_case_gives_what_a_collision_and_its_bases_take() -> None:
    assert list(case_parameters(lbm.TRT)) == ["smagorinsky", "incompressible", "magic"]
    assert list(case_parameters(lbm.ThermalBGK)) == ["prandtl", "gravity", "fourth_order_diffusion"]


def test_schema_has_the_parameters_of_all_collisions() -> None:
    properties = case_file.schema()["properties"]["collision"]["properties"]
    for collision in COLLISIONS.values():  # a key means the same of all that have it
        for key, wanted in case_parameters(collision).items():
            assert properties[key] == wanted


def test_command_prints_the_whole_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema"]) == cli.OK
    assert json.loads(capsys.readouterr().out) == case_file.schema()


def test_a_class_of_a_user_goes_where_its_base_does() -> None:
    class Own(lbm.MRT):
        """A collision of a user."""

    check_pair("D3Q19", Own)
    with pytest.raises(ValueError, match="collision: Own given with D2Q37"):
        check_pair("D2Q37", Own)


@pytest.mark.parametrize("name", ["bulk_viscosity", "limiter"])
@pytest.mark.parametrize("value", [0, -0.1, float("nan"), 1e300, "x", True])
def test_numbers_of_the_cumulant_collision_are_positive_or_none(name: str, value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=name):
        lbm.Cumulant(0.1, **{name: value})
    assert getattr(lbm.Cumulant(0.1, **{name: None}), name) is None


def test_parametrized_is_true_or_false() -> None:
    with pytest.raises(TypeError, match="parametrized: 1 given, must be True or False"):
        lbm.Cumulant(0.1, parametrized=1)  # type: ignore[arg-type]


def test_cumulants_need_all_27_velocities() -> None:
    with pytest.raises(ValueError, match=r"Cumulant given with D3Q19, .* Cumulant needs a domain of stencil 'D3Q27'"):
        lbm.Solver(lbm.Domain((8, 8, 8), "D3Q19"), lbm.Cumulant(0.1), device="cpu")


def test_odd_rates_of_mrt_come_from_the_magic_parameter_where_no_rate_is_given() -> None:
    stencil = lbm.stencil("D2Q9")
    rates = lbm.MRT(0.1, {"e": 1.2}, magic=0.25).parameters(stencil)["rates"]
    published = lbm.MRT(0.1, "published").parameters(stencil)["rates"]
    assert published == lbm.MRT(0.1).parameters(stencil)["rates"]
    assert rates == published | {"e": 1.2, "q": pytest.approx(1 / (0.25 / 0.3 + 0.5))}


def test_mrt_has_either_the_published_odd_rates_or_a_magic_parameter() -> None:
    with pytest.raises(ValueError, match="'published' given with magic"):
        lbm.MRT(0.1, "published", magic=0.25)
    with pytest.raises(TypeError, match="rates: 'other' given"):
        lbm.MRT(0.1, "other")  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError), match="magic"):
        lbm.MRT(0.1, magic=0)


@pytest.mark.parametrize(
    "collision",
    [
        lbm.MRT(0.1, magic=0.25),
        lbm.MRT(0.1, {"q": 1.5}, magic=0.25),
        lbm.MRT(0.1, incompressible=True),
        lbm.TRT(0.1, incompressible=True),
        lbm.Cumulant(1),
    ],
)
def test_collisions_are_values(collision: Any) -> None:
    other = pickle.loads(pickle.dumps(collision))
    assert other == collision
    assert hash(other) == hash(collision)
    assert eval(repr(collision), {type(collision).__name__: type(collision)}) == collision


@pytest.mark.parametrize("value", [1, 0.0, None, "yes"])
def test_incompressible_is_true_or_false(value: Any) -> None:
    with pytest.raises(TypeError, match=r"incompressible: .* must be True or False"):
        lbm.TRT(0.1, incompressible=value)


@pytest.mark.parametrize("collision", [lbm.Cumulant, lbm.ThermalBGK])
def test_other_collisions_are_compressible(collision: Any) -> None:
    with pytest.raises(TypeError, match="incompressible"):
        collision(0.1, incompressible=True)
    kind, stencil = collision.kind, "D3Q27" if collision is lbm.Cumulant else "D2Q37"
    shape, given = (6, 6, 6)[: int(stencil[1])], {"viscosity": 0.1, "incompressible": 1.0}
    numbers = {"precision": "float64", "storage": "float64", "streaming": "two-lattice"}
    with pytest.raises(ValueError, match="incompressible"):
        _core.Engine(stencil=stencil, shape=shape, collision=kind, **numbers, **given)


def test_a_choice_of_the_equilibrium_is_not_lost() -> None:
    stencil = lbm.stencil("D2Q9")
    compressible, incompressible = lbm.MRT(0.1), lbm.MRT(0.1, {"e": 1.2}, incompressible=True)
    assert lbm.BGK(0.1) != lbm.BGK(0.1, incompressible=True)
    assert "incompressible" not in compressible.record(stencil)  # as in files from before there was a choice
    assert incompressible.record(stencil)["incompressible"] is True
    assert incompressible.without_defaults(stencil).incompressible


def test_checkpoints_know_the_equilibrium(tmp_path: Path) -> None:
    def solver(**options: bool) -> lbm.Solver:
        return lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.TRT(0.1, **options), device="cpu")

    path = tmp_path / "state.h5"
    solver(incompressible=True).save(path)
    assert lbm.Solver.load(path).collision == lbm.TRT(0.1, incompressible=True)
    solver(incompressible=True).restore(path)
    with pytest.raises(lbm.CheckpointError, match="collision"):
        solver().restore(path)


def test_cases_take_the_equilibrium() -> None:
    assert build_collision({"model": "TRT", "viscosity": 0.1, "incompressible": True}) == lbm.TRT(
        0.1, incompressible=True
    )
    assert "incompressible" not in case_parameters(lbm.Cumulant)
