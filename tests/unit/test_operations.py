"""The floating-point operations of updates, as they count themselves."""

from __future__ import annotations

import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.benchmarks import single as bench

UPDATES = [(stencil, kind) for stencil in _core.stencil_names() for kind in _core.collision_names(stencil)]


@pytest.mark.parametrize(("stencil", "kind"), UPDATES)
def test_every_update_has_a_plausible_number(stencil: str, kind: str) -> None:
    """At least one for each population, and no more than a full matrix would take."""
    Q = len(_core.stencil(stencil).c)
    plain, forced = (_core.cell_operations(stencil, kind, forced=forced) for forced in (False, True))
    assert 4 * Q < sum(plain) < 2 * Q * Q
    assert plain[3] == 0
    if stencil != "D2Q37":  # whose gravity goes with the collision's parameters
        assert sum(forced) > sum(plain)


def test_moments_take_less_where_a_collision_is_of_second_order() -> None:
    for stencil in ("D2Q9", "D3Q19", "D3Q27"):
        kept = sum(_core.cell_operations(stencil, "regularized", moments=True))
        assert kept < sum(_core.cell_operations(stencil, "regularized"))


def test_updates_that_are_none_are_refused() -> None:
    for stencil, kind, moments in (("D2Q9", "thermal-bgk", False), ("D3Q19", "bgk", True), ("D2Q37", "bgk", False)):
        with pytest.raises(ValueError, match="is none"):
            _core.cell_operations(stencil, kind, moments=moments)
    with pytest.raises(ValueError, match="none of this name"):
        _core.cell_operations("D2Q9", "no collision")
    with pytest.raises(ValueError, match="stencil"):
        _core.cell_operations("D9Q1", "bgk")


def test_benchmarks_count_what_they_run() -> None:
    def counted(**words: object) -> int | None:
        return bench.operations_of(bench.Configuration(size=8, **words))  # type: ignore[arg-type]

    plain, forced = counted(), counted(flow="forced")
    assert plain is not None
    assert forced is not None
    assert forced > plain > 0
    assert counted(flow="heated") is None
    assert counted(turbulence="wale") is None
    gas = counted(stencil="D2Q37", collision="ThermalBGK", streaming="two-lattice")
    assert gas == sum(_core.cell_operations("D2Q37", lbm.ThermalBGK.kind)) == 696
    assert sum(_core.cell_operations("D2Q37", lbm.ThermalBGK.kind, variable_prandtl=True)) == 879
    assert sum(_core.cell_operations("D2Q37", lbm.ThermalBGK.kind, fourth_order_diffusion=True)) == 1138
