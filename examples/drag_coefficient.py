"""Drag and lift coefficients of a body in two dimensions, from the forces.csv that a case leaves.

lbmgpu run examples/channel_cylinder.json
python examples/drag_coefficient.py channel_cylinder/forces.csv --velocity 0.05 --length 20
"""

from __future__ import annotations

import argparse

import numpy as np

parser = argparse.ArgumentParser(description="Mean and extremes of the coefficients 2 F / (density velocity^2 length).")
parser.add_argument("table", metavar="forces.csv")
parser.add_argument("--velocity", type=float, required=True, help="of the stream, cells a step")
parser.add_argument("--length", type=float, required=True, help="of the body across the stream, cells")
parser.add_argument("--density", type=float, default=1.0, help="of the fluid (1)")
parser.add_argument("--last", type=float, default=0.5, help="part of the rows that count, from the end (0.5)")
arguments = parser.parse_args()

rows = np.loadtxt(arguments.table, delimiter=",", skiprows=1, ndmin=2)
rows = rows[len(rows) - max(1, int(arguments.last * len(rows))) :]
scale = 2 / (arguments.density * arguments.velocity**2 * arguments.length)
print(f"steps {rows[0, 0]:.0f} to {rows[-1, 0]:.0f}")
for name, force in (("drag", rows[:, 1]), ("lift", rows[:, 2])):
    coefficient = scale * force
    print(f"{name}: mean {coefficient.mean():.4f}, from {coefficient.min():.4f} to {coefficient.max():.4f}")
