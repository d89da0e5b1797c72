"""What comes back from open faces: sound at normal and oblique incidence, a vortex, and the mass of a channel.

Each flow is compared with the same one in a longer box, whose faces are too far away to matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reference.open_flows import AMPLITUDE, STREAM, oblique_packet, pulse

import lbmgpu as lbm

Array = NDArray[np.float64]
LENGTH = 160


def largest_difference(
    initial: Callable[[Array, Array], tuple[Array, Array, Array]],
    height: int,
    steps: int,
    outlet: Any,
    inlet: Any,
    device: str,
    *,
    before: int = 240,
    behind: int = 240,
) -> float:
    """The largest difference of the density from that in the longer box, looked for every five steps."""
    solvers = []
    for low, high in ((0, LENGTH), (-before, LENGTH + behind)):
        x, y = np.meshgrid(np.arange(low, high) + 0.5, np.arange(height) + 0.5, indexing="ij")
        density, *velocity = initial(x, y)
        domain = lbm.Domain(x.shape, stencil="D2Q9")
        domain.faces["-x"], domain.faces["+x"] = inlet, outlet
        solver = lbm.Solver(domain, lbm.Regularized(0.01), precision="float64", device=device)
        solver.initialize(density=density, velocity=np.array(velocity))
        solvers.append(solver)
    short, long = solvers
    largest = 0.0
    for _ in range(steps // 5):
        short.step(5)
        long.step(5)
        difference = short.density() - long.density()[before : before + LENGTH]
        largest = max(largest, float(abs(difference).max()))
    return largest


def characteristic() -> tuple[Any, Any]:
    outlet = lbm.PressureOutlet(1.0, scheme="characteristic")
    return outlet, lbm.VelocityInlet((STREAM, 0.0), scheme="characteristic")


def test_a_pulse_leaves_through_a_characteristic_outlet(device: str) -> None:
    assert largest_difference(pulse, 3, 330, *characteristic(), device) < 0.02 * AMPLITUDE


def test_an_oblique_wave_leaves_through_a_characteristic_outlet(device: str) -> None:
    assert largest_difference(oblique_packet, 57, 380, *characteristic(), device) < 0.1 * AMPLITUDE


def test_blocks_at_characteristic_faces_change_no_bit() -> None:
    """Numbers of boundary cells go from block to block along the face."""
    x, y = np.meshgrid(np.arange(24) + 0.5, np.arange(12) + 0.5, indexing="ij")
    shape = 1e-2 * np.exp(-((x - 18) ** 2 + (y - 6) ** 2) / 8)
    populations = []
    for parts in ((1, 1), (2, 1), (1, 3), (2, 2)):
        domain = lbm.Domain((24, 12), stencil="D2Q9")
        domain.faces["+x"], domain.faces["-x"] = characteristic()
        domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.PressureOutlet(scheme="characteristic")
        layout = lbm.Layout.split((24, 12), parts)
        solver = lbm.Solver(domain, lbm.TRT(0.02), device="cpu", layout=layout)
        solver.initialize(density=1 + shape, velocity=np.array([STREAM + shape, shape]))
        solver.step(40)
        populations.append(solver.populations())
    for other in populations[1:]:
        assert (other == populations[0]).all()
