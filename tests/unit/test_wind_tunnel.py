"""Tests of wind tunnels: sizes and units, faces, coefficients and their intervals, verdicts, refusals, cases."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import need

import lbmgpu as lbm
from lbmgpu.case import run_case
from lbmgpu.output.batches import half_widths
from lbmgpu.tunnel import placing, trust

pytestmark = pytest.mark.filterwarnings("ignore:body:lbmgpu.GeometryWarning")
BLOCK = lbm.Box((0, 0, 0), (3, 1.2, 1))
PLATE = lbm.Box((0, 0, 0), (0.1, 5, 5))
SMALL: dict[str, Any] = {"length_phys": 4.0, "speed_phys": 40.0, "cells_across": 8, "blockage": 0.1, "device": "cpu"}


def small(body: Any = BLOCK, **more: Any) -> lbm.WindTunnel:
    return lbm.WindTunnel(body, **(SMALL | {"speed": 0.1, "settle": 1.0} | more))


def test_sizes_and_units_follow_from_the_length_and_the_speed() -> None:
    tunnel = small(cells_across=12, blockage=0.04)
    made = tunnel.setup
    low, high = made.bodies["body"].bounds
    np.testing.assert_allclose(high - low, (12, 4.8, 4))
    assert low[2] == 0
    assert tunnel.units.cell_phys == pytest.approx(4 / 12)
    assert tunnel.units.velocity_phys(made.speed) == pytest.approx(40)
    assert made.area == pytest.approx(4.8 * 4, rel=0.02)
    assert made.blockage <= 0.0401
    assert made.reynolds == pytest.approx(40 * 4 / 1.516e-5)
    assert made.viscosity == pytest.approx(tunnel.units.viscosity(1.516e-5))
    assert low[0] - 8 >= 18
    assert "frontal area 2.1" in str(tunnel)
    assert tunnel.turnover_steps == pytest.approx(120)


@pytest.mark.parametrize("ground", ["moving", "fixed", None])
@pytest.mark.parametrize("sides", ["slip", "periodic"])
def test_faces_are_those_of_the_ground_and_the_sides(ground: str | None, sides: str) -> None:
    tunnel = small(ground=ground, sides=sides)
    kinds = {face: tunnel.domain.faces[face].kind for face in ("-x", "+x", "-y", "+y", "-z", "+z")}
    side = {"slip": "free-slip", "periodic": "periodic"}[sides]
    floor = {"moving": "moving-wall", "fixed": "no-slip", None: side}[ground]
    top = "free-slip" if ground else side
    expected = ("velocity-inlet", "pressure-outlet", side, side, floor, top)
    assert tuple(kinds.values()) == expected
    tunnel.solver.step(5)
    assert np.isfinite(tunnel.solver.velocity()).all()


def test_a_clearance_lifts_the_body() -> None:
    tunnel = small(clearance_phys=1.0)
    assert tunnel.setup.bodies["body"].bounds[0][2] == pytest.approx(2.0)


def test_the_frontal_area_is_that_of_the_shadow() -> None:
    ball = lbm.Sphere((0, 0, 0), 1)
    assert placing.frontal_area({"ball": ball}) == pytest.approx(np.pi, rel=0.01)
    behind = ball.translate((3, 0, 0))
    assert placing.frontal_area({"ball": ball, "behind": behind}) == pytest.approx(np.pi, rel=0.02)
    beside = ball.translate((0, 3, 0))
    assert placing.frontal_area({"ball": ball, "beside": beside}) == pytest.approx(2 * np.pi, rel=0.02)


def test_thin_parts_of_a_mesh_have_their_frontal_area() -> None:
    """A plate across the stream of a thousandth of its length thick, with a pole as thin, and one along the stream."""
    low, high = np.array([(0.5, 0, 0), (0, 0.4, 1)]), np.array([(0.501, 2, 1), (1, 0.401, 2)])
    faces = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    halves = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    unit = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    boxes = [first + unit * (last - first) for first, last in zip(low, high, strict=True)]
    mesh = lbm.Mesh(np.concatenate(boxes), np.concatenate([halves, halves + 8]))
    assert placing.frontal_area({"plates": mesh}) == pytest.approx(2.0, abs=0.02)
    sheet = lbm.Mesh(boxes[0][:4], halves[[0, 6]], sheet=True)
    assert placing.frontal_area({"sheet": sheet, "ball": lbm.Sphere((0, 1, 0.5), 0.1)}) == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize(("name", "meant"), [("cell_across", "cells_across"), ("devise", "device")])
def test_a_misspelled_argument_is_named_with_the_right_one(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"'{name}' given.*did you mean '{meant}'") as refused:
        small(**{name: 8})
    assert "'options'" not in str(refused.value)
    assert "'domain'" not in str(refused.value)


def test_a_reynolds_number_is_capped_and_that_is_said() -> None:
    tunnel = small(reynolds=200)
    assert tunnel.setup.reynolds == 200
    assert tunnel.setup.viscosity == pytest.approx(0.1 * 8 / 200)
    assert "in place of 1.06e+07" in str(tunnel)
    tunnel.solver.step()
    assert "in place of" in str(tunnel.trust())
    assert small(reynolds=1e9).setup.reynolds == small().setup.reynolds


def test_drag_has_an_interval_and_bodies_add_up() -> None:
    halves = {"front": lbm.Box((0, 0, 0), (1.5, 1.2, 1)), "rear": lbm.Box((1.6, 0, 0), (3, 1.2, 1))}
    tunnel = small(halves, reynolds=500, means=True)
    with pytest.raises(ValueError, match="must run for longer"):
        tunnel.coefficients()
    tunnel.run(4)
    both = tunnel.coefficients()
    parts = [tunnel.coefficients(name) for name in halves]
    assert both.drag.value == pytest.approx(sum(part.drag.value for part in parts))
    assert 0.3 < both.drag.value < 4
    low, high = both.drag.interval
    assert low < both.drag.value < high
    assert abs(both.side.value) < 1e-3 * both.drag.value
    assert both.turnovers == pytest.approx(3, abs=0.1)
    assert "statistical only" in str(both)
    surface = tunnel.surface("front")
    assert surface is not None
    assert surface.cp[surface.exposed].max() > 0.5
    assert set(tunnel.y_plus()) == set(halves)
    with pytest.raises(ValueError, match="must be one of 'front', 'rear'"):
        tunnel.surface()


def test_an_interval_of_few_samples_is_infinite_and_of_noise_that_of_its_mean() -> None:
    noise = np.random.default_rng(1).normal(2, 1, (4000, 6))
    widths = half_widths(noise, 0.95)
    assert (widths < 0.08).all()
    assert (widths > 0.015).all()
    assert np.isinf(half_widths(noise[:3], 0.95)).all()


def test_intervals_of_short_correlated_records_have_the_mean_nearly_as_often_as_they_say() -> None:
    """Of ten correlation times, by a Markov process; batch means alone would have it in 80 of 100."""
    random, kept = np.random.default_rng(2), np.exp(-1 / 50)
    rows = np.empty((500, 1000))
    rows[0] = random.standard_normal(1000)
    for k in range(1, len(rows)):
        rows[k] = kept * rows[k - 1] + np.sqrt(1 - kept**2) * random.standard_normal(1000)
    widths = half_widths(rows, 0.95)
    assert 0.87 < (np.abs(rows.mean(axis=0)) < widths).mean() < 0.97


def test_forces_are_taken_after_even_and_odd_steps_in_turn() -> None:
    """As those of walls one cell apart swing from step to step, here by several times their mean."""
    for cells in (8, 16, 40):
        tunnel = small(cells_across=cells, speed=0.01) if cells > 8 else small()
        spacing = tunnel.recorders["body"].every
        assert spacing % 2 == 1
        assert spacing <= max(1, tunnel.turnover_steps / 150)


def test_a_verdict_says_whether_boundary_layers_are_resolved() -> None:
    fine, coarse = trust.YPlus(0.5, 1.0, 0.0), trust.YPlus(50, 80, 1.0)
    assert trust.judged(100, 400, 400, {"car": fine}).resolved
    for cells, reynolds, y_plus in ((100, 1e6, fine), (100, 400, coarse)):
        verdict = trust.judged(cells, reynolds, reynolds, {"car": y_plus})
        assert not verdict.resolved
        assert str(verdict).startswith("Drag and lift are not to be trusted")
        assert "The boundary layers are unresolved" in str(verdict)
    tunnel = small()
    tunnel.solver.step()
    assert not tunnel.trust().resolved


def test_a_verdict_without_y_plus_says_that_it_is_not_known() -> None:
    """As of unions, of which no triangles are known; but that too few cells leave layers unresolved is known."""
    fine, coarse = trust.YPlus(0.5, 1.0, 0.0), trust.YPlus(50, 80, 1.0)
    both = {"car": 40.0, "trailer": 40.0}
    for y_plus in ({}, {"car": fine}):
        verdict = trust.judged(100, 400, 400, y_plus, across=both)
        assert verdict.resolved is None
        assert str(verdict).startswith("Whether the boundary layers are resolved is not known")
        assert verdict.reasons == ()
    assert "y+ is not known" in str(trust.judged(100, 400, 400, {}))
    assert trust.judged(100, 400, 400, {"car": fine, "trailer": fine}, across=both).resolved is True
    assert trust.judged(100, 400, 400, {"car": coarse}, across=both).resolved is False
    assert trust.judged(100, 1e6, 1e6, {}, across=both).resolved is False


def gap_of_one_cell(**more: Any) -> lbm.WindTunnel:
    """A block one cell above a moving ground, where the fluid swings from step to step."""
    return small(cells_across=12, speed=0.05, clearance_phys=0.4, **more)


def test_a_verdict_names_the_state_the_swing_the_gap_and_the_cells_across_the_worst_first() -> None:
    tunnel = gap_of_one_cell()
    tunnel.run(4)
    reasons = tunnel.trust().reasons
    starts = ("The state is not", "Forces swing", "The gap between body 'body' and the ground is 1 cell", "The bound")
    for reason, start in zip(reasons, starts, strict=False):
        assert reason.startswith(start)
    assert "times the stream, at cell" in reasons[0]
    assert "Mach number" in reasons[0]
    assert "density goes from 0." in reasons[0]
    assert "lift is" in reasons[1]
    assert "cells_across=36" in reasons[2]
    assert reasons[4].startswith("Pressure and friction on the surface of body 'body' add up to a drag of")
    assert reasons[5] == "Body 'body' is 4.8 cells across, fewer than 10: its shape is one of steps."
    assert str(tunnel.trust()).startswith("Drag and lift are not to be trusted; the reasons, the worst first: The st")


def test_a_verdict_names_a_closed_gap() -> None:
    """Of less than half a cell, in which no centre of a cell is."""
    tunnel = small(cells_across=12, speed=0.05, clearance_phys=0.1, reynolds=100)
    tunnel.run(2)
    assert "The gap between body 'body' and the ground is closed" in str(tunnel.trust())


def test_a_verdict_has_no_word_of_what_is_as_it_should_be() -> None:
    tunnel = small(cells_across=12, speed=0.05, clearance_phys=1.0, reynolds=100)
    tunnel.run(2)
    text = str(tunnel.trust())
    for word in ("The state", "swing", "The gap"):
        assert word not in text
    fine = trust.State(0.06, (1, 2, 3), 0.99, 1.01, {"drag": (1.0, 1.1)}, 1.05)
    y_plus = {"car": trust.YPlus(0.5, 1.0, 0.0)}
    verdict = trust.judged(100, 400, 400, y_plus, state=fine, speed=0.05, across={"car": 40})
    assert verdict.reasons == ()
    assert str(verdict).startswith("The boundary layers are resolved")


def test_a_verdict_names_a_relaxation_time_that_is_too_long_and_the_speed_of_another() -> None:
    verdict = trust.judged(10, 0.1, 0.1, {}, speed=0.05)
    assert verdict.reasons[0].startswith("The relaxation time is 15.5 steps, above 2: ")
    assert "it is 2 with speed=0.005" in verdict.reasons[0]
    assert "relaxation" not in str(trust.judged(10, 1.0, 1.0, {}, speed=0.05))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"speed": 0.13}, "top speed is 2.6 times the stream"),
        ({"speed": 0.2}, "Mach number on the lattice goes up to 0.35"),
        ({"lowest": 0.94}, "density goes from 0.94"),
        ({"highest": 1.06}, "to 1.06"),
        ({"swings": {"lift": (-22.0, 24.0)}}, "lift is -22 after even and 24 after odd ones"),
    ],
)
def test_each_bound_of_the_state_is_said(changed: dict[str, Any], said: str) -> None:
    state = {"speed": 0.06, "cell": (0, 0, 0), "lowest": 1.0, "highest": 1.0, "swings": {}, "drag": 1.0} | changed
    assert said in str(trust.judged(100, 400, 400, {}, state=trust.State(**state), speed=0.05))


@pytest.mark.parametrize("top", [0.8, 1.0, 1.2, 1.4])
def test_walls_of_a_gap_of_one_cell_are_half_way_beside_a_moving_wall(top: float) -> None:
    """What interpolates would read there what comes off the other wall; so the swing is not of interpolation."""
    found = []
    for scheme in ("halfway", "interpolated"):
        domain = lbm.Domain((8, 6), "D2Q9")
        domain.faces["-y"], domain.faces["+y"] = lbm.MovingWall((0.05, 0.0)), lbm.NoSlip()
        domain.add_body(lbm.Box((-1, top), (9, 4)), "body", lbm.NoSlip(scheme=scheme))
        solver = lbm.Solver(domain, lbm.TRT(0.1), precision="float64", device="cpu")
        solver.step(500)
        found.append((solver.velocity()[:, :, 0], solver.body_force("body")))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][0][0], 0.025, rtol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)


def test_gaps_between_bodies_are_told_from_those_to_the_ground() -> None:
    halves = {"front": lbm.Box((0, 0, 0), (1.4, 1.2, 1)), "rear": lbm.Box((1.6, 0, 0), (3, 1.2, 1))}
    tunnel = small(halves, cells_across=16, clearance_phys=1.5)
    tunnel.solver.step()
    gaps = [reason for reason in tunnel.trust().reasons if reason.startswith("The gap")]
    assert [gap.partition(" is ")[0] for gap in gaps] == [f"The gap beside body {name!r}" for name in halves]


@pytest.mark.parametrize("method", ["trust", "surface", "plot"])
def test_what_looks_at_the_flow_is_refused_before_any_step(method: str) -> None:
    with pytest.raises(ValueError, match=f"{method}: of the state at step 0, before any run"):
        getattr(small(), method)()


@pytest.mark.parametrize(("turnovers", "settle"), [(6, 10), (10, 10), (0.001, 0), (1.02, 1)])
def test_a_run_of_too_few_samples_is_refused_at_once(turnovers: float, settle: float) -> None:
    tunnel = small(settle=settle)
    with pytest.raises(ValueError, match=r"turnovers: .* given, must be above .* need 4 samples at least"):
        tunnel.run(turnovers)
    assert tunnel.solver.steps == 0


def test_a_run_in_parts_counts_the_steps_before() -> None:
    tunnel = small(settle=0.1)
    tunnel.run(0.2)
    tunnel.run(0.02)


def test_coefficients_of_too_few_samples_say_that_there_is_no_interval() -> None:
    tunnel = small(settle=0)
    tunnel.solver.step(3)
    text = str(tunnel.coefficients())
    assert "inf" not in text
    assert "without an interval" in text
    assert "3 samples are too few, 4 are needed at least" in text


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"length_phys": 0}, "length_phys: 0 given"),
        ({"speed_phys": 200}, "speed_phys: 200 given, must be at most 103"),
        ({"fluid": "honey"}, "fluid: 'honey' given"),
        ({"fluid": {"viscosity_phys": 1e-5}}, "fluid: .* must be 'air' or 'water', .* 'density_phys'"),
        ({"cells_across": 4}, "cells_across: 4 given"),
        ({"ground": "wet"}, "ground: 'wet' given"),
        ({"ground": np.zeros(3)}, "ground: .* given, must be 'moving', 'fixed' or None"),
        ({"sides": "open"}, "sides: 'open' given"),
        ({"blockage": 0.5}, "blockage: 0.5 given"),
        ({"speed": 0.4}, "speed: 0.4 given"),
        ({"reynolds": -1}, "reynolds: -1 given"),
        ({"settle": -1}, "settle: -1 given"),
        ({"ground": None, "clearance_phys": 1}, "clearance_phys: given without a ground"),
        ({"clearance_phys": 5}, "clearance_phys: 5 given, must be at most 'length_phys', 4; .* ground=None"),
        ({"cells_across": 10**5}, r"cells_across: 100000 given, a domain of \(\d+, .* cells, must be far fewer$"),
        ({"cells_across": 10**5, "body": PLATE}, "far fewer, along x, where the body is 50 times smaller than across"),
        ({"cells_across": 4000}, r"^cells_across: 4000 given; a domain of \(.* GiB.* what would fit: cells_across=\d+"),
        ({"cells_across": 40, "body": PLATE.scale(9)}, "^cells_across: 40 given, along x, where the body is 50 times"),
        ({"speed_phys": 1e-12}, "^speed_phys: 1e-12 given, must be at least .* a Reynolds number of 8e-07"),
        ({"reynolds": 1e-9}, "^reynolds: 1e-09 given, must be at least 8e-07"),
        ({"body": {}}, "body: an empty dict"),
        ({"body": {"a": BLOCK, "b": BLOCK.scale(1e-3)}}, "body 'b': .* must have one unit"),
        ({"body": lbm.Plane((0, 0, 0), (0, 0, 1))}, "must be of three dimensions, with an end"),
    ],
)
def test_wrong_arguments_are_named(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**({"body": BLOCK} | more))


def test_a_body_that_is_none_and_a_file_that_is_not_there_are_named() -> None:
    with pytest.raises(TypeError, match="body 'body': 3 given"):
        small(3)
    with pytest.raises(OSError, match="none"):
        small("none.stl")
    with pytest.raises(TypeError, match=r"collision: 'TRT' given, must be a class of collisions, such as lbm\.TRT"):
        small(collision="TRT")


@pytest.fixture
def stl(tmp_path: Path) -> Path:
    trimesh = need("trimesh")
    path = tmp_path / "block.stl"
    trimesh.creation.box((3, 1.2, 1)).export(path)
    return path


def case_of(stl: Path, **more: Any) -> Path:
    tunnel = {"body": stl.name, "length_phys": 4.0, "speed_phys": 40.0, "cells_across": 8, "blockage": 0.1} | more
    run = {"turnovers": 2, "device": "cpu", "threads": 1}
    path = stl.with_name("wind_tunnel.json")
    path.write_text(json.dumps({"wind_tunnel": {"settle": 1, "speed": 0.1, **tunnel}, "run": run}))
    return path


def test_a_case_leaves_coefficients_surface_and_picture(stl: Path, tmp_path: Path) -> None:
    out = io.StringIO()
    result = run_case(case_of(stl, reynolds=None), folder=tmp_path / "run", progress=False, out=out)
    assert result.steps == 160
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"body.csv", "body.vtp", "speed.png", "coefficients.txt", "run.log"} <= names
    assert (tmp_path / "run" / "coefficients.txt").read_text().strip() == out.getvalue().strip()
    assert "drag" in out.getvalue()
    assert "not to be trusted" in out.getvalue()
    said = (tmp_path / "run" / "run.log").read_text()
    assert "\\n" not in said
    assert "WARNING body 'body': it is 3.2 cells across" in said
    for line in out.getvalue().strip().splitlines()[5:]:  # what is after the setup
        assert line in said


@pytest.mark.parametrize(
    ("more", "place", "message"),
    [
        ({"length_phys": -1}, "$.wind_tunnel.length_phys", "must be above 0"),
        ({"ground": "wet"}, "$.wind_tunnel.ground", "must be one of"),
        ({"clearance_phys": 5}, "$.wind_tunnel.clearance_phys", 'is in free air, "ground": null'),
        ({"wheels": 4}, "$.wind_tunnel.wheels", "unknown key"),
        ({"fluid": "honey"}, "$.wind_tunnel.fluid", "'honey' given"),
        ({"body": {}}, "$.wind_tunnel.body", "{} given, must have at least 1 key"),
        ({"body": "none.stl"}, "$.wind_tunnel.body", "'none.stl' cannot be read: No such file"),
        ({"body": {"a": "block.stl", "b": "none.stl"}}, "$.wind_tunnel.body.b", "'none.stl' cannot be read"),
        ({"body": "wind_tunnel.json"}, "$.wind_tunnel.body", "must be a file of a mesh"),
        ({"body": {"a": "block.stl", "b": "small.stl"}}, "$.wind_tunnel.body.b", "must have one unit"),
    ],
)
def test_a_wrong_case_is_named_with_its_place(stl: Path, more: dict[str, Any], place: str, message: str) -> None:
    need("trimesh").creation.box((3e-3, 1e-3, 1e-3)).export(stl.with_name("small.stl"))
    with pytest.raises(lbm.CaseError) as raised:
        run_case(case_of(stl, **more), folder=stl.parent / "run")
    assert [where for where, _ in raised.value.problems] == [place]
    assert message in raised.value.problems[0][1]


def test_a_wrong_fluid_and_file_are_listed_with_other_errors(stl: Path) -> None:
    with pytest.raises(lbm.CaseError) as raised:
        run_case(case_of(stl, fluid="oil", length_phys=-4))
    assert [where for where, _ in raised.value.problems] == ["$.wind_tunnel.fluid", "$.wind_tunnel.length_phys"]
    with pytest.raises(lbm.CaseError) as raised:
        run_case(case_of(stl, body="none.stl", settle=3))
    assert [where for where, _ in raised.value.problems] == ["$.run.turnovers", "$.wind_tunnel.body"]


def test_a_case_of_too_few_samples_is_refused_with_its_place(stl: Path) -> None:
    path = case_of(stl)
    path.write_text(path.read_text().replace('"turnovers": 2', '"turnovers": 1.01'))
    with pytest.raises(lbm.CaseError, match=r"\$\.run\.turnovers: 1.01 given, must be above"):
        run_case(path, folder=stl.parent / "run")


def test_steps_and_restarts_of_a_case_are_refused(stl: Path) -> None:
    with pytest.raises(ValueError, match="has turnovers, from the beginning"):
        run_case(case_of(stl), steps=10)


def test_a_case_that_ends_before_its_coefficients_begin_is_refused_at_once(stl: Path) -> None:
    with pytest.raises(lbm.CaseError, match=r"\$\.run\.turnovers: 2 given, must be above the 3 of 'settle'"):
        run_case(case_of(stl, settle=3))


@pytest.mark.parametrize("cells", [4000, 100000])
def test_too_many_cells_of_a_case_are_named(stl: Path, cells: int) -> None:
    with pytest.raises(lbm.CaseError, match=rf"^\$\.wind_tunnel\.cells_across: {cells} given"):
        run_case(case_of(stl, cells_across=cells), folder=stl.parent / "out", progress=False)


BODIES = [
    ({"a": "block.stl", "b": "block.stl"}, r"^\$\.wind_tunnel\.body\.b: overlaps body 'a', for example at cell"),
    (
        {"shape": "sphere", "radius": 1},
        r"body\.radius: 1 given, must be the path of an STL, OBJ or PLY file \(shapes by",
    ),
    (3, r"\.body: 3 given, must be the path of an STL, OBJ or PLY file .* or an object of such paths by name"),
]


@pytest.mark.parametrize(("body", "message"), BODIES)
def test_bodies_of_a_case_that_will_not_do_are_named(stl: Path, body: Any, message: str) -> None:
    with pytest.raises(lbm.CaseError, match=message):
        run_case(case_of(stl, body=body), folder=stl.parent / "out", progress=False)


@pytest.mark.parametrize("command", ["plan", "study"])
def test_plans_and_studies_refuse_a_wind_tunnel(stl: Path, command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lbmgpu", command, str(case_of(stl))], capture_output=True, text=True, cwd=stl.parent
    )
    assert done.returncode != 0
    assert "wind_tunnel: given, which only" in done.stderr


def test_the_command_line_runs_a_wind_tunnel(stl: Path) -> None:
    command = [sys.executable, "-m", "lbmgpu", "run", str(case_of(stl)), "--no-progress", "--output", "out"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=stl.parent, check=True)
    assert "statistical only" in done.stdout
    assert (stl.parent / "out" / "body.vtp").is_file()
    said = (stl.parent / "out" / "run.log").read_text()
    assert "Wind tunnel: body on a moving ground" in said
    assert "after 160 steps" in said
    assert "WARNING body 'body': it is 3.2 cells across" in said
    lines = done.stderr.splitlines()
    assert "warning: body 'body': it is 3.2 cells across, fewer than 10; forces on it will be coarse" in lines
    assert "GeometryWarning" not in done.stderr
    assert "sys.exit" not in done.stderr
    assert "\\n" not in done.stderr


def test_the_example_goes_from_a_file_to_drag_and_picture(tmp_path: Path) -> None:
    need("trimesh")
    script = Path(__file__).parents[2] / "examples" / "wind_tunnel.py"
    options = {"capture_output": True, "text": True, "check": True, "cwd": tmp_path}
    make = f"import sys; sys.argv = ['x']; exec(open({str(script)!r}).read().split('tunnel = ')[0])"
    subprocess.run([sys.executable, "-c", make], **options)  # type: ignore[call-overload]
    done = subprocess.run([sys.executable, str(script), "car.stl", "8", "1.5"], **options)  # type: ignore[call-overload]
    assert "drag" in done.stdout
    assert "statistical only" in done.stdout
    assert (tmp_path / "car.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "car.vtp").is_file()
