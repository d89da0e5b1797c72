"""Tests the planner's cost model: by hand, by what the engine really exchanges, and by the layouts it should prefer."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import lbmgpu as lbm
from lbmgpu.planning.cost_model import (
    Device,
    Link,
    Machine,
    Prediction,
    Problem,
    Tiling,
    crossing,
    has_interiors,
    incoming_bytes,
    incoming_counts,
    predict,
)
from lbmgpu.planning.planner import tilings

DOCS = Path(__file__).parents[2] / "docs"


def velocities(stencil: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(c) for c in velocity) for velocity in lbm.stencil(stencil).c)


def equal(shape: tuple[int, ...], parts: tuple[int, ...]) -> Tiling:
    return Tiling(tuple((n // k,) * k for n, k in zip(shape, parts, strict=True)))


def best(machine: Machine, problem: Problem, overlap: bool = False) -> tuple[int, ...]:
    speeds = [device.speed for device in machine.devices]
    found = tilings(problem.shape, speeds, problem.radius)
    return min(found, key=lambda tiling: predict(machine, problem, tiling, overlap).step_seconds).parts


def cluster(count: int, links: dict[str, Link], on_a_host: int = 8) -> Machine:
    return Machine(tuple(Device(f"cuda:{k % on_a_host}", 4e12, host=k // on_a_host) for k in range(count)), links)


def test_two_slabs_by_hand() -> None:
    """16 x 8 x 6 cells of D3Q19 in float32, cut across z, periodic: 5 populations a cell of two faces."""
    problem = Problem((16, 8, 6), velocities("D3Q19"), 4, (True,) * 3)
    devices = (Device("cuda:0", 1e9, 1e-6, 1e-8), Device("cuda:1", 1e9, 1e-6, 1e-8))
    machine = Machine(devices, {"peer": Link("peer", 1e8, 3e-6, 0.5)})
    found = predict(machine, problem, equal(problem.shape, (1, 1, 2)))
    update = 1e-6 + 8 * 3 * 1e-8 + 16 * 8 * 3 * 152 / 1e9
    # Of a face's 5 populations one goes along x too: half of it and a cell of each row through the ends of x, which
    # are the same neighbour's, at half the bandwidth.
    slow, fast = 2 * 2 * 8 * 4, 2 * (5 * 16 * 8 * 4 - 2 * 8 * 4)
    assert found.update_seconds == pytest.approx(update)
    assert found.exchange_seconds == pytest.approx(3e-6 + fast / 1e8 + slow / 0.5e8)
    assert found.step_seconds == pytest.approx(found.update_seconds + found.exchange_seconds)
    assert found.mlups == pytest.approx(768 / found.step_seconds / 1e6)
    assert found.efficiency == pytest.approx(768 * 152 / 2e9 / found.step_seconds)


def test_overlap_by_hand() -> None:
    problem = Problem((10, 8), velocities("D2Q9"), 8, (False, False))
    tiling = equal(problem.shape, (1, 2))
    for bandwidth in (1e6, 1e12):
        devices = (Device("cuda:0", 1e9, 1e-6), Device("cuda:1", 1e9, 1e-6))
        machine = Machine(devices, {"peer": Link("peer", bandwidth)})
        update = 1e-6 + 10 * 4 * 144 / 1e9
        shell = 10 * 144 / 1e9  # one row, as the other faces are walls
        exchange = (3 * 10 - 2) * 8 / bandwidth  # the diagonal ones at the ends arrive from walls
        apart, overlapped = (predict(machine, problem, tiling, overlap) for overlap in (False, True))
        assert apart.step_seconds == pytest.approx(update + exchange)
        assert overlapped.step_seconds == pytest.approx(1e-6 + shell + max(update - shell, exchange))


def test_one_block_exchanges_nothing() -> None:
    problem = Problem((8, 8, 8), velocities("D3Q27"), 2, (True,) * 3)
    found = predict(Machine((Device("cpu", 1e10),)), problem, equal(problem.shape, (1, 1, 1)))
    assert found.exchange_seconds == 0
    assert found.efficiency == pytest.approx(1)
    assert found == Prediction(found.step_seconds, found.step_seconds, 0.0, found.mlups, found.efficiency)


def test_a_device_with_several_blocks_updates_them_in_turn() -> None:
    problem = Problem((8, 8, 8), velocities("D3Q19"), 4, (True,) * 3)
    link = {"same": Link("same", 1e10)}
    one = predict(Machine((Device("cpu", 1e10, 1e-6),)), problem, equal(problem.shape, (1, 1, 1)))
    two = predict(Machine((Device("cpu", 1e10, 1e-6),) * 2, link), problem, equal(problem.shape, (1, 1, 2)))
    assert two.update_seconds == pytest.approx(one.update_seconds + 1e-6)
    assert two.step_seconds > one.step_seconds


def test_the_slowest_device_decides() -> None:
    problem = Problem((8, 100), velocities("D2Q9"), 4, (False, False))
    machine = Machine((Device("cuda:0", 9e9), Device("cpu", 1e9)), {"host": Link("host", 1e15)})
    half = predict(machine, problem, Tiling(((8,), (50, 50))))
    assert half.step_seconds == pytest.approx(8 * 50 * 72 / 1e9, rel=1e-3)
    shared = predict(machine, problem, Tiling(((8,), (90, 10))))
    assert shared.efficiency == pytest.approx(1, rel=1e-3)
    assert ((8,), (90, 10)) in [tiling.sizes for tiling in tilings(problem.shape, [9e9, 1e9])]


@pytest.mark.parametrize(
    ("stencil", "shape", "parts", "thermal"),
    [
        ("D2Q9", (12, 6), (2, 3), False),
        ("D3Q19", (6, 8, 9), (3, 2, 3), False),
        ("D3Q27", (6, 8, 9), (3, 2, 3), False),
        ("D2Q9", (12, 6), (2, 3), True),
        ("D2Q9", (12, 6), (1, 3), True),
        ("D3Q19", (6, 8, 9), (3, 2, 3), True),
        ("D3Q19", (6, 8, 9), (1, 2, 3), True),
        ("D3Q19", (6, 8, 9), (3, 1, 1), True),
    ],
)
@pytest.mark.parametrize("periodic", [True, False])
def test_the_engine_exchanges_what_the_model_counts(
    stencil: str, shape: tuple[int, ...], parts: tuple[int, ...], thermal: bool, periodic: bool
) -> None:
    model = lbm.HybridThermal(0.1) if thermal else None
    domain = lbm.Domain(shape, stencil)
    if not periodic:
        for face in domain.faces:
            domain.faces[face] = lbm.NoSlip()
    for streaming in ("in-place", "two-lattice"):
        layout = lbm.Layout.split(shape, parts)
        solver = lbm.Solver(domain, lbm.BGK(0.1), streaming=streaming, layout=layout, threads=1, thermal=model)
        exchanged = sum(link["bytes"] for link in solver._simulation.engine.links)
        # With a bandwidth of 1 byte a second and no latency, the model's seconds are bytes.
        around = (periodic,) * len(shape)
        problem = Problem(shape, velocities(stencil), 4, around, thermal)
        machine = Machine((Device("cpu", 1e30),) * len(layout), {"same": Link("same", 1.0)})
        assert predict(machine, problem, equal(shape, parts)).exchange_seconds == exchanged


SQUARES = (0, 1, 2, 4, 5, 8, 9, 10)
FAR = tuple(c for c in itertools.product(range(-3, 4), repeat=2) if c[0] ** 2 + c[1] ** 2 in SQUARES)
"""The velocities of D2Q37."""


def test_arrivals_of_a_stencil_that_reaches_far() -> None:
    """Each population of D2Q37 that leaves a block arrives in another: faces and corners together, on a torus."""
    assert len(FAR) == 37
    size = (5, 7)
    count = dict(incoming_counts(FAR, size))
    leaving = sum(
        not (0 <= x + c[0] < size[0] and 0 <= y + c[1] < size[1])
        for c in FAR
        for x, y in itertools.product(range(size[0]), range(size[1]))
    )
    assert sum(count.values()) == leaving
    assert count[(-1, 0)] == count[(1, 0)] == sum(c[0] * (7 - abs(c[1])) for c in FAR if c[0] > 0)
    assert count[(1, -1)] == sum(-c[0] * c[1] for c in FAR if c[0] < 0 < c[1])


def test_what_crosses_a_face_by_hand() -> None:
    """15 populations a cell from the nearest layer, 8 from the next, 3 from the third; 15 at a corner."""
    assert crossing(FAR, 0) == crossing(FAR, 1) == (15, 8, 3)
    assert crossing(velocities("D3Q19"), 2) == (5,)
    assert crossing(velocities("D2Q9"), 0) == (3,)
    count = dict(incoming_counts(FAR, (40, 50)))
    corner = 1 + 2 * 2 + 4 + 2 * 3  # (1, 1), (2, 1) and (1, 2), (2, 2), (3, 1) and (1, 3)
    assert count[1, 1] == count[-1, 1] == corner == 15
    assert count[0, 1] == 26 * 40 - 2 * corner
    assert count[1, 0] == 26 * 50 - 2 * corner


def test_layers_and_blocks_of_d2q37_by_hand() -> None:
    """48 x 32 cells in float64 on four devices, on a torus: along y, along x, along both."""
    problem = Problem((48, 32), FAR, 8, (True, True))
    assert problem.bytes_per_update == 592
    assert problem.radius == 3
    fixed, speed, latency, bandwidth, fraction = 1e-6, 1e9, 5e-6, 1e8, 0.25
    devices = tuple(Device(f"cuda:{k}", speed, fixed) for k in range(4))
    machine = Machine(devices, {"peer": Link("peer", bandwidth, latency, fraction)})
    update = fixed + 48 * 32 / 4 * 592 / speed
    across = {(1, 4): 2 * 30, (4, 1): 2 * 26 * 32, (2, 2): 2 * 26 * 16}  # in layers the diagonals at the ends of rows
    along = {(1, 4): 2 * (26 * 48 - 30), (4, 1): 0, (2, 2): 2 * (26 * 24 - 30)}
    for parts, runs in across.items():
        tiling = equal(problem.shape, parts)
        assert incoming_bytes(problem, tiling, (0, 0)) == (8 * runs, 8 * along[parts])
        exchange = latency + 8 * along[parts] / bandwidth + 8 * runs / (fraction * bandwidth)
        found = predict(machine, problem, tiling)
        assert found.update_seconds == pytest.approx(update)
        assert found.exchange_seconds == pytest.approx(exchange)
        assert found.step_seconds == pytest.approx(update + exchange)
    hidden = predict(machine, problem, equal(problem.shape, (1, 4)), overlap=True)
    shell = 6 * 48 * 592 / speed  # three of eight rows on either side
    assert hidden.step_seconds == pytest.approx(fixed + shell + max(update - shell, hidden.exchange_seconds))


def test_surface_over_volume_of_d2q37() -> None:
    """Layers of a square get 52 populations a cell of a row whatever their number, blocks fewer from five on."""
    problem = Problem((4096, 4096), FAR, 8, (True, True))
    for count, side in ((4, 2), (16, 4), (64, 8)):
        layers = sum(incoming_bytes(problem, equal(problem.shape, (1, count)), (0, 0)))
        blocks = sum(incoming_bytes(problem, equal(problem.shape, (side, side)), (0, 0)))
        assert layers == 52 * 4096 * 8
        # Through both faces of an axis, but corners come once, though they are in the faces' sums twice.
        assert blocks == (2 * 52 * 4096 // side - 4 * 15) * 8
        assert blocks < layers or count == 4
        assert blocks / layers == pytest.approx(2 / side, rel=2e-3)


def test_how_thin_layers_of_d2q37_hide_their_exchange() -> None:
    """The number of rows in scaling.md: 26.6 of 4096 cells for 380 GB/s and 8 us at 4000 GB/s."""
    rows = 6 + 4e12 / 592 * (8e-6 / 4096 + 52 * 8 / 380e9)
    assert 26 < rows < 27
    link = {"peer": Link("peer", 380e9, 8e-6)}
    for n, hidden in ((26, False), (27, True)):
        devices = tuple(Device(f"cuda:{k}", 4e12) for k in range(3))
        problem = Problem((4096, 3 * n), FAR, 8, (True, True))
        found = predict(Machine(devices, link), problem, equal(problem.shape, (1, 3)), overlap=True)
        assert (found.step_seconds == pytest.approx(found.update_seconds, rel=1e-9)) == hidden


def test_cells_before_walls_of_d2q37_by_hand() -> None:
    """Of 20 x 24 cells in two beside each other: 3 x 3 whole cells at either end of the face, less what enters."""
    problem = Problem((20, 24), FAR, 8, (True, False))
    tiling = equal(problem.shape, (2, 1))
    entering = 2 * (26 * 24 - 30)
    # Of such nine cells 26 populations a row would enter, but those that meet the wall: 15, as at any corner.
    whole = 4 * (9 * 37 - (3 * 26 - 15))
    assert incoming_bytes(problem, tiling, (0, 0)) == (8 * (entering + whole), 0)
    assert incoming_bytes(problem, equal(problem.shape, (1, 2)), (0, 0)) == (8 * 30, 8 * (26 * 20 - 30))
    across = Problem((20, 24), FAR, 8, (False, True))
    assert incoming_bytes(across, equal(problem.shape, (1, 2)), (0, 0)) == (0, 8 * (2 * (26 * 20 - 30) + whole))


@pytest.mark.parametrize("walls", ["", "x", "y"])
@pytest.mark.parametrize("parts", [(1, 2), (2, 1), (2, 3), (3, 2)])
def test_the_engine_exchanges_what_the_model_counts_of_d2q37(parts: tuple[int, int], walls: str) -> None:
    shape = (24, 18)
    domain = lbm.Domain(shape, "D2Q37")
    for face in (f"{sign}{axis}" for axis in walls for sign in "-+"):
        domain.faces[face] = lbm.NoSlip()
    layout = lbm.Layout.split(shape, parts)
    solver = lbm.Solver(domain, lbm.ThermalBGK(0.1), precision="float64", layout=layout, threads=1)
    exchanged = sum(link["bytes"] for link in solver._simulation.engine.links)
    problem = Problem(shape, velocities("D2Q37"), 8, (walls != "x", walls != "y"))
    tiling = equal(shape, parts)
    assert exchanged == sum(sum(incoming_bytes(problem, tiling, place)) for place in tiling.places())


def test_slabs_on_fast_links_and_blocks_on_slow_ones() -> None:
    fast = {"peer": Link("peer", 3.8e11, 8e-6, 0.8)}
    slow = {"network": Link("network", 2e9, 5e-5)}
    problem = Problem((512, 512, 512), velocities("D3Q19"), 4, (True,) * 3)
    assert best(cluster(2, fast), problem) == (1, 1, 2)
    assert best(cluster(64, slow, on_a_host=1), problem) == (4, 4, 4)
    flat = Problem((512, 512, 16), problem.velocities, 4, problem.periodic)
    assert best(cluster(8, fast), flat) in {(1, 8, 1), (2, 4, 1)}
    assert best(cluster(2, fast), flat) == (1, 2, 1)


def test_a_narrow_link_counts_for_those_who_use_it() -> None:
    """Four devices in two pairs: the cut between the pairs is the smaller one."""
    wide, narrow = Link("peer", 1e12), Link("host", 1e9)
    devices = tuple(Device(f"cuda:{k}", 1e12) for k in range(4))
    pairs = {(a.name, b.name): narrow for a in devices for b in devices}
    pairs |= {(f"cuda:{a}", f"cuda:{a ^ 1}"): wide for a in range(4)}
    problem = Problem((64, 16), velocities("D2Q9"), 4, (False, False))
    machine = Machine(devices, pairs=pairs)
    assert best(machine, problem) == (2, 2)  # the first axis, with 16 cells a face, lies between the pairs
    assert best(machine, Problem((16, 64), problem.velocities, 4, problem.periodic)) == (1, 4)


def test_what_does_not_fit_is_named() -> None:
    problem = Problem((8, 8), velocities("D2Q9"), 4, (True, True))
    two = (Device("cuda:0", 1e9), Device("cuda:1", 1e9))
    with pytest.raises(ValueError, match="2 blocks given for 1 devices"):
        predict(Machine(two[:1]), problem, equal((8, 8), (1, 2)))
    with pytest.raises(ValueError, match=r"must add up to the shape \(8, 8\)"):
        predict(Machine(two), problem, Tiling(((8,), (4, 3))))
    with pytest.raises(ValueError, match="no link from cuda:1 to cuda:0, must be of kind peer or host"):
        predict(Machine(two), problem, equal((8, 8), (1, 2)))
    hosts = Machine((Device("cuda:0", 1e9), Device("cuda:0", 1e9, host=1)), {"same": Link("same", 1e9)})
    with pytest.raises(ValueError, match="must be of kind network"):
        predict(hosts, problem, equal((8, 8), (1, 2)))


@pytest.fixture
def filling() -> ModuleType:
    """The script that makes the tables of the page."""
    spec = importlib.util.spec_from_file_location("fill_scaling", DOCS / "fill_scaling.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["fill_scaling"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_what_the_model_says(filling: ModuleType) -> None:
    page = (DOCS / "scaling.md").read_text()
    assert filling.measured_table() in page
    assert filling.slab_table() in page
    assert filling.plane_table() in page
    assert filling.tiling_table() in page
    assert filling.projection_table([8, 64]).splitlines()[-1] in page


def test_the_model_is_near_what_four_gpus_did(filling: ModuleType) -> None:
    """Several blocks of a GPU do better than the model, which adds up the latencies of all; and GPUs that overlap their
    ways through the memory of the host share it, of which the model knows nothing."""
    rows = [line.split("|")[1:-1] for line in filling.measured_table().splitlines()[2:]]
    assert len(rows) > 10
    for _, blocks, channel, schedule, measured, _, model in rows:
        if (channel.strip(), schedule.strip()) == ("staged", "overlap"):
            assert float(model) > float(measured) - 0.015
        else:
            assert float(model) == pytest.approx(float(measured), abs=0.1 if "2 x 2" in blocks else 0.035)


def test_rows_that_are_cut_have_interiors_where_the_engine_can_have_late_ones() -> None:
    machine = Machine(tuple(Device(f"cuda:{k}", 4e12) for k in range(4)), {"peer": Link("peer", 2.8e11)})
    problem = Problem((512, 512, 512), ((0, 0, 0), (1, 0, 0)), 4, (True,) * 3)
    assert has_interiors(problem, (2, 2, 1), machine)
    assert has_interiors(problem, (2, 64, 51), machine)  # 8 layers and one more at each face
    assert not has_interiors(problem, (2, 64, 64), machine)
    assert not has_interiors(replace(problem, thermal=True), (2, 1, 1), machine)
    with_cpu = replace(machine, devices=(*machine.devices, Device("cpu", 1e11)))
    assert not has_interiors(problem, (2, 1, 1), with_cpu)
    assert has_interiors(problem, (1, 2, 1), with_cpu)
    apart = replace(machine, devices=tuple(replace(device, host=k) for k, device in enumerate(machine.devices)))
    assert not has_interiors(problem, (2, 1, 1), apart)
