"""A vortex street behind a cylinder in a channel, D3Q27 with MRT, in three blocks along the flow.

    python examples/cylinder_d3q27.py --output cylinder_d3q27.png

A constant velocity at the inlet, zero gradient at the outlet, no-slip walls above and below, free-slip sides. The
blocks go to all GPUs that there are in turn, or to the CPU; the result is the same, to the last bit.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

import lbmgpu as lbm
from lbmgpu.parallel.devices import available

SPEED = 0.06
REYNOLDS = 150

parser = argparse.ArgumentParser(description="A vortex street behind a cylinder, in three blocks along the flow.")
parser.add_argument("--size", type=int, default=12, metavar="N", help="diameter of the cylinder in cells (12)")
parser.add_argument("--steps", type=int, default=20_000, metavar="N", help="steps (20000)")
parser.add_argument("--output", default="cylinder_d3q27.png", metavar="PNG", help="the picture (cylinder_d3q27.png)")
arguments = parser.parse_args()

n = arguments.size
shape = (21 * n, 8 * n, 3 * n)
domain = lbm.Domain(shape, stencil="D3Q27")
domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((SPEED, 0.0, 0.0)), lbm.Outflow()
domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
domain.faces["-z"] = domain.faces["+z"] = lbm.FreeSlip()
x, y = (np.arange(cells) + 0.5 for cells in shape[:2])
# A little off the middle, or the symmetric flow would take long to give way.
disc = np.hypot(x[:, None] - 5 * n, y[None, :] - 4.1 * n) < n / 2
domain.add_body(np.broadcast_to(disc[:, :, None], shape), name="cylinder")

devices = available()
layout = lbm.Layout.split(shape, (3, 1, 1), [devices[k % len(devices)] for k in range(3)])
solver = lbm.Solver(domain, lbm.MRT(viscosity=SPEED * n / REYNOLDS), layout=layout)
solver.initialize(velocity=(SPEED, 0.0, 0.0))
solver.run(arguments.steps, progress=True)
print(solver.report(bandwidth=False))
drag, lift, _ = solver.body_force("cylinder") * 2 / (SPEED**2 * n * shape[2])
print(f"drag coefficient {drag:.3f}, lift coefficient {lift:.3f} at the end")

velocity = solver.velocity()[:, :, :, shape[2] // 2 - 1 : shape[2] // 2 + 2].astype(np.float64)
gradient = [np.gradient(component) for component in velocity]  # of each component along x, y, z
curl = [gradient[(k + 2) % 3][(k + 1) % 3] - gradient[(k + 1) % 3][(k + 2) % 3] for k in range(3)]
vorticity = np.sqrt(sum(component[:, :, 1] ** 2 for component in curl)) * n / SPEED
# Differences across its surface say nothing of the flow.
near = np.hypot(x[:, None] - 5 * n, y[None, :] - 4.1 * n) < n / 2 + 1

figure = Figure(figsize=(9, 3.6), layout="constrained")
plot = figure.add_subplot()
plot.set_facecolor("0.6")
image = plot.imshow(
    np.ma.masked_array(vorticity, near).T, origin="lower", extent=(0, 21, 0, 8), vmin=0, vmax=4, cmap="magma"
)
figure.colorbar(image, ax=plot, label="vorticity (U/d)", shrink=0.8)
for border in (7, 14):
    plot.axvline(border, color="white", linewidth=0.6, linestyle=":")
plot.set(xlabel="x/d", ylabel="y/d", title=f"Re {REYNOLDS}, three blocks, step {solver.steps}")
figure.savefig(arguments.output, dpi=90)
print(f"picture: {arguments.output}")
