"""The table of the collisions: all that the engine has, each with its class."""

from __future__ import annotations

import json

import pytest
from reference.registry import FLOW_STENCILS

import lbmgpu as lbm
from lbmgpu import _core, checks, cli
from lbmgpu.case import read as case_file
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
    assert list(case_parameters(lbm.TRT)) == ["smagorinsky", "magic"]
    assert list(case_parameters(lbm.ThermalBGK)) == ["prandtl", "gravity"]


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
