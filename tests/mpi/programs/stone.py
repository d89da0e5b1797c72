"""What several programs are about: a small flow about a stone between walls of which one moves."""

import sys
from pathlib import Path

import numpy as np

import lbmgpu as lbm

SHAPE = (14, 12, 10)


def arguments() -> tuple[str, Path]:
    """The device and the folder that a program is given."""
    return sys.argv[1], Path(sys.argv[2])


def domain(*, is_open: bool = False) -> lbm.Domain:
    """The domain; along z it is periodic, or has an inlet and an outlet."""
    made = lbm.Domain(SHAPE)
    made.faces["-y"], made.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0.0, 0.01))
    if is_open:
        made.faces["-z"], made.faces["+z"] = lbm.VelocityInlet((0.0, 0.0, 0.02)), lbm.Outflow()
    mask = np.zeros(SHAPE, bool)
    mask[5:9, 4:8, 3:6] = True
    made.add_body(mask, "stone")
    return made


def velocity() -> np.ndarray:
    """A rough initial velocity."""
    return 0.05 * np.random.default_rng(1).uniform(-1, 1, (3, *SHAPE))
