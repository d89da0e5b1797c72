"""What recorders and values that change in time ask of a GPU beside the steps, counted by the emulated driver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_driver import requests

import lbmgpu as lbm
from lbmgpu.solver import run
from lbmgpu.solver.solver import simulation_of

pytestmark = pytest.mark.gpu

SHAPE = (16, 8, 8)
POINTS = np.random.default_rng(1).random((1000, 3)) * SHAPE
CHUNK = 2**19 // (4 * SHAPE[0] * SHAPE[1] * SHAPE[2])
"""Samples that come to the host together: 2^19 numbers, four of each cell, all of which the points are between."""


@pytest.fixture(autouse=True)
def _chunks_do_not_depend_on_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are made in as long chunks, and looks for divergence are as far apart, as on a fast device."""
    monkeypatch.setattr(run, "CHUNK_SECONDS", 1e6)
    monkeypatch.setattr(run, "MIN_SECONDS", 1e6)
    monkeypatch.setattr(run, "CHECK_SHARE", 1e6)


def solver_of(speed: Any = None) -> lbm.Solver:
    """In a periodic box, or in a channel with an inlet of this speed."""
    domain = lbm.Domain(SHAPE)
    if speed is not None:
        domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
        domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(speed), lbm.PressureOutlet()
    solver = lbm.Solver(domain, lbm.TRT(0.05), device="cuda", streaming="in-place")
    solver.initialize(velocity=(0.05, 0.01, 0.0))
    return solver


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_probes_in_each_step_add_a_kernel_a_step_and_a_copy_a_chunk(gpu: str, streaming: str) -> None:
    """And nobody waits for the device but once a chunk, and at the end of a call."""
    steps = 4 * CHUNK
    solver = lbm.Solver(lbm.Domain(SHAPE), lbm.TRT(0.05), device=gpu, streaming=streaming)
    solver.initialize(velocity=(0.05, 0.01, 0.0))
    probe = solver.record(lbm.Probe(POINTS))
    solver.step(CHUNK)  # which loads all kernels
    found = requests(lambda: solver.step(steps))
    # The update of a periodic box is one kernel. Beside it and the samples are a few looks for divergence.
    few = 8
    assert 2 * steps <= found["launches"] <= 2 * steps + few
    assert found["programmatic"] >= 2 * steps
    assert found["graphs"] == 0
    assert found["copies_to_device"] <= few
    assert found["copies_to_host"] <= 4 + few
    assert found["waits"] <= steps // 8
    assert len(probe) == solver.steps


def test_an_inlet_that_changes_in_time_adds_no_kernel(gpu: str) -> None:
    """Its steps are recorded and replayed as those of a steady one."""
    along = (0.05, 0.0, 0.0)
    found = []
    for speed in (along, along * lbm.Sine(mean=1, amplitude=0.1, period=50)):
        solver = solver_of(speed)
        solver.step(64)
        found.append(requests(lambda solver=solver: solver.step(320)))
    steady, changing = found
    assert changing["graphs"] == steady["graphs"] >= 320 // 16 - 3
    assert changing["launches"] == steady["launches"]
    assert changing["waits"] <= steady["waits"] + 2


@pytest.mark.parametrize("flow", ["periodic", "channel", "two blocks"])
@pytest.mark.parametrize("kind", ["uniform", "field"])
def test_a_force_that_changes_in_time_adds_nothing(gpu: str, kind: str, flow: str) -> None:
    """Its steps are recorded and replayed as those of a steady one, and no field goes to the device."""
    fixed = np.array([1e-5, 0, 0]) if kind == "uniform" else 1e-6 * np.random.default_rng(1).random((3, *SHAPE))
    found = []
    for force in (fixed, fixed * lbm.Sine(mean=1, amplitude=0.1, period=50)):
        domain = lbm.Domain(SHAPE)
        if flow == "channel":
            domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
            domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0, 0)), lbm.PressureOutlet()
        layout = lbm.Layout.split(SHAPE, (1, 1, 2 if flow == "two blocks" else 1), device=gpu)
        solver = lbm.Solver(domain, lbm.TRT(0.05), layout=layout, force=force)
        solver.step(64)
        found.append(requests(lambda solver=solver: solver.step(320)))
    steady, changing = found
    assert changing["graphs"] == steady["graphs"] >= 320 // 16 - 3
    assert changing["launches"] == steady["launches"]
    assert changing["programmatic"] == steady["programmatic"]
    assert changing["copies_to_device"] == steady["copies_to_device"]
    assert changing["waits"] == steady["waits"]


def test_walls_whose_temperatures_change_add_a_kernel_a_step(gpu: str) -> None:
    """Of the same steps, which are recorded and replayed: nobody waits between them."""
    found = []
    for wall in (1.0, lbm.Varying(1, lbm.Sine(mean=1, amplitude=0.1, period=50))):
        domain = lbm.Domain((16, 12), stencil="D2Q9")
        domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
        domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(wall), lbm.Isothermal(0)
        solver = lbm.Solver(domain, lbm.TRT(0.05), thermal=lbm.HybridThermal(0.05), device=gpu)
        found.append(requests(lambda solver=solver: solver.step(64)))
    steady, changing = found
    assert steady["graphs"] == changing["graphs"] >= 2
    assert changing["launches"] == steady["launches"] + 64 - 16 * changing["graphs"]
    assert changing["waits"] < steady["waits"] + 24


def test_an_inlet_that_changes_in_time_beside_probes_adds_nothing_either(gpu: str) -> None:
    along = (0.05, 0.0, 0.0)
    found = []
    for speed in (along, along * lbm.Sine(mean=1, amplitude=0.1, period=50)):
        solver = solver_of(speed)
        solver.record(lbm.Probe(POINTS))
        solver.step(64)
        found.append(requests(lambda solver=solver: solver.step(3 * CHUNK)))
    assert found[0] == found[1]


def test_halos_of_moments_are_boxes_that_the_copy_engine_copies(gpu: str) -> None:
    """Where there is an interior beside them. Rows of single cells, across x, are a kernel's."""

    def copies(parts: tuple[int, int, int], schedule: str) -> int:
        layout = lbm.Layout.split((140, 12, 12), parts, [gpu, gpu])
        solver = lbm.Solver(
            lbm.Domain((140, 12, 12)),
            lbm.Regularized(0.05),
            state="moments",
            device="auto",
            layout=layout,
            schedule=schedule,
        )
        solver.step(2)
        return requests(lambda: simulation_of(solver).advance(2))["box_copies"]

    # In an update each of two blocks gets two layers, or rows of each of 12 layers, from both sides of the other one.
    assert copies((1, 1, 2), "overlap") == 2 * 4
    assert copies((1, 2, 1), "overlap") == 2 * 2
    assert copies((1, 1, 2), "blocking") == 0
    assert copies((2, 1, 1), "overlap") == 0
