"""Temperatures of bodies at known distances, against the NumPy reference to 1e-12, and the same bits everywhere."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reference import STENCILS, Heat
from reference.cases import engine_state, random_cuts
from reference.cut_walls import Cuts
from reference.registry import STREAMINGS, THERMAL_STENCILS, by_dimension
from reference.thermal_cases import OPERATORS, ThermalCase, random_thermal_case

import lbmgpu as lbm

from .test_thermal import assert_same

SHAPES = by_dimension((9, 7), (6, 5, 4))
SMOOTH = by_dimension((14, 13), (11, 10, 10))


def random_case(rng: np.random.Generator, name: str, shape: tuple[int, ...], **more: Any) -> ThermalCase:
    """Bodies of single cells that touch each other and the faces, with gaps of one cell between them."""
    case = random_thermal_case(rng, name, "trt", shape, **more)
    cuts = random_cuts(rng, name, case.bodies, ["interpolated"])
    case.cuts = {number: replace(each, holds_temperature=rng.random() < 0.9) for number, each in cuts.items()}
    return case


def smooth_case(rng: np.random.Generator, name: str, wall: float | None, kind: str) -> ThermalCase:
    """One round body at any place, which may go on behind a face or at the other end."""
    shape = SMOOTH[name]
    case = random_thermal_case(rng, name, "trt", shape, faces=[kind] * 2 * len(shape), bodies=False)
    ball = lbm.Sphere(rng.uniform(2, np.array(shape) - 2), 3.1)
    mask = ball.solid((0,) * len(shape), shape)
    links = ball.links((0,) * len(shape), shape, STENCILS[name].c)
    numbers = (links.cells.tolist(), links.directions.tolist(), links.q.tolist())
    c, distance = STENCILS[name].c, {}
    for cell, i, q in zip(*numbers, strict=True):
        end = np.add(cell, c[i])
        if (end >= 0).all() and (end < shape).all() and mask[tuple(end)]:
            distance[tuple(cell), i] = q
    case.bodies = [(mask, None)]
    case.heat = Heat(**{**case.heat.__dict__, "bodies": [wall]})
    case.cuts = {0: Cuts("interpolated", distance, holds_temperature=True)}
    return case


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_temperatures_at_any_distance(name, streaming, operators, device, rng):
    """Of isothermal bodies, with gaps and corners where they fall back to half-way walls, in a periodic box."""
    for _ in range(3):
        case = random_case(rng, name, SHAPES[name], operators=operators, faces=["periodic"] * 2 * len(SHAPES[name]))
        assert_same(case, case.solver(streaming=streaming, device=device), steps=12)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "number"), [(s, n) for s in THERMAL_STENCILS for n in range(8)])
def test_temperatures_beside_faces(name, number, streaming, device, rng):
    """Where faces of all kinds meet bodies, sizes down to two cells."""
    sizes = [2, 3, 5, 8] if number % 4 == 0 else [4, 5, 6]
    shape = tuple(int(n) for n in rng.choice(sizes, len(SHAPES[name])))
    case = random_case(rng, name, shape)
    assert_same(case, case.solver(streaming=streaming, device=device), steps=8)


@pytest.mark.parametrize("kind", ["periodic", "no-slip"])
@pytest.mark.parametrize("wall", [None, 0.7])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_round_bodies(name, wall, kind, device, rng):
    """With and without a temperature, amid the domain and at its faces."""
    for _ in range(4):
        case = smooth_case(rng, name, wall, kind)
        assert_same(case, case.solver(device=device), steps=8)


def test_fits_are_there(rng):
    """Most links of a round adiabatic body, small as it is, are no half-way walls."""
    reference = smooth_case(rng, "D3Q19", None, "periodic").reference()
    links = sum(len(cuts.distance) for cuts in reference.cuts.values())
    fits = sum(reference.neighbour(cell, reference.stencil.c[i]).others != () for cell, i in reference.cuts[0].distance)
    assert fits > 0.6 * links


@pytest.mark.parametrize("kind", ["periodic", "no-slip"])
@pytest.mark.parametrize("wall", [None, 0.7])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_layouts_change_no_bit(name, wall, kind, device, rng):
    """Of round bodies that lie in several blocks: temperatures, and local heat fluxes."""
    for _ in range(2):
        case = smooth_case(rng, name, wall, kind)
        one = case.solver(precision="float32", device=device)
        one.step(9)
        for axes in range(1, 2 ** len(case.shape)):
            spans = []
            for axis, n in enumerate(case.shape):
                middle = int(rng.integers(1, n))
                spans.append([(0, middle), (middle, n)] if axes >> axis & 1 else [(0, n)])
            places = [np.transpose([(a, b - a) for a, b in box]).tolist() for box in itertools.product(*spans)]
            blocks = [lbm.Block(*place, device=one.device) for place in places]
            other = case.solver(precision="float32", device="auto", layout=lbm.Layout(blocks))
            other.step(9)
            np.testing.assert_array_equal(other.temperature(), one.temperature())
            ours, theirs = (solver.heat_flux("body 0") for solver in (other, one))
            order = [np.lexsort(each.cells.T) for each in (ours, theirs)]
            np.testing.assert_array_equal(ours.flux[order[0]], theirs.flux[order[1]])
            np.testing.assert_array_equal(ours.area[order[0]], theirs.area[order[1]])


@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_streaming_and_device_change_no_bit(name, device, rng):
    """Of temperatures in float32."""
    case = random_case(rng, name, SHAPES[name])
    states = []
    other = "cuda:0" if device == "cuda" else device
    for streaming, where in (("in-place", "cpu"), ("in-place", other), ("two-lattice", other)):
        engine = case.engine(streaming=streaming, precision="float32", storage="float32", device=where)
        engine.step(15)
        temperature = np.empty(case.shape[::-1], np.float32)
        engine.temperature(temperature)
        populations = engine_state(engine, name, case.shape)[:, case.fluid()]
        states.append((temperature.T[case.fluid()].view(np.uint32), populations.view(np.uint32)))
    for state in states[1:]:
        for ours, first in zip(state, states[0], strict=True):
            np.testing.assert_array_equal(ours, first)
