"""A vortex street behind a cylinder in a channel, D3Q27 with MRT, in three blocks along the flow.

    python examples/cylinder_d3q27.py --output cylinder_d3q27.png

Above a Reynolds number of about 190 the street becomes three-dimensional on a wider span, faster after a disturbance;
this renders its vortices, coloured by speed (with PyVista: pip install 'lbmgpu[pyvista]'):

    python examples/cylinder_d3q27.py --size 10 --reynolds 300 --speed 0.1 --span 4 --disturbance 0.3 --free-slip \\
        --steps 5000 --render vortices.png

A constant velocity at the inlet, zero gradient at the outlet, no-slip walls above and below, free-slip sides. The
blocks go to all GPUs that there are in turn, or to the CPU; the result is the same, to the last bit.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

import lbmgpu as lbm
from lbmgpu.parallel.devices import available

parser = argparse.ArgumentParser(description="A vortex street behind a cylinder, in three blocks along the flow.")
parser.add_argument("--size", type=int, default=12, metavar="N", help="diameter of the cylinder in cells (12)")
parser.add_argument("--steps", type=int, default=20_000, metavar="N", help="steps (20000)")
parser.add_argument("--output", default="cylinder_d3q27.png", metavar="PNG", help="the picture (cylinder_d3q27.png)")
parser.add_argument("--reynolds", type=float, default=150, metavar="RE", help="Reynolds number of the diameter (150)")
parser.add_argument("--speed", type=float, default=0.06, metavar="U", help="speed at the inlet in cells a step (0.06)")
parser.add_argument("--span", type=int, default=3, metavar="N", help="length of the cylinder in diameters (3)")
parser.add_argument(
    "--disturbance",
    type=float,
    default=0,
    metavar="A",
    help="initial cross-flow behind the cylinder over the speed (0)",
)
parser.add_argument("--free-slip", action="store_true", help="no friction on the walls above and below")
parser.add_argument("--render", metavar="PNG", help="a picture of the vortices in three dimensions")
arguments = parser.parse_args()

n, SPEED, REYNOLDS = arguments.size, arguments.speed, arguments.reynolds
shape = (21 * n, 8 * n, arguments.span * n)
domain = lbm.Domain(shape, stencil="D3Q27")
domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((SPEED, 0.0, 0.0)), lbm.Outflow()
domain.faces["-y"] = domain.faces["+y"] = lbm.FreeSlip() if arguments.free_slip else lbm.NoSlip()
domain.faces["-z"] = domain.faces["+z"] = lbm.FreeSlip()
x, y = (np.arange(cells) + 0.5 for cells in shape[:2])
# A little off the middle, or the symmetric flow would take long to give way.
disc = np.hypot(x[:, None] - 5 * n, y[None, :] - 4.1 * n) < n / 2
domain.add_body(np.broadcast_to(disc[:, :, None], shape), name="cylinder")

devices = available()
layout = lbm.Layout.split(shape, (3, 1, 1), [devices[k % len(devices)] for k in range(3)])
solver = lbm.Solver(domain, lbm.MRT(viscosity=SPEED * n / REYNOLDS), layout=layout)


def initial_velocity(x, y, z):
    """Uniform, and behind the cylinder across it, by waves of several lengths along the span."""
    behind = (x > 5 * n) * np.exp(-(((x - 7 * n) / (3 * n)) ** 2) - ((y - 4.1 * n) / (1.2 * n)) ** 2)
    phase = 2 * np.pi * z / shape[2]
    waves = 1 + 0.5 * np.cos(phase) + 0.3 * np.cos(1.5 * phase)
    return SPEED + 0 * x, arguments.disturbance * SPEED * behind * waves, 0 * x


solver.initialize(velocity=initial_velocity)
solver.run(arguments.steps, progress=True)
print(solver.report(bandwidth=False))
drag, lift, _ = solver.body_force("cylinder") * 2 / (SPEED**2 * n * shape[2])
print(f"drag coefficient {drag:.3f}, lift coefficient {lift:.3f} at the end")

middle = solver.vorticity(region=np.s_[:, :, shape[2] // 2])
vorticity = np.sqrt((middle**2).sum(axis=0)) * n / SPEED
# Differences across its surface say nothing of the flow.
near = np.hypot(x[:, None] - 5 * n, y[None, :] - 4.1 * n) < n / 2 + 1

if arguments.render:
    lbm.plot.render(
        solver, iso="q_criterion", color="speed", vmin=0, vmax=1.8 * SPEED, cmap="turbo", path=arguments.render
    )
    print(f"rendering: {arguments.render}")

figure = Figure(figsize=(9, 3.6), layout="constrained")
plot = figure.add_subplot()
plot.set_facecolor("0.6")
image = plot.imshow(
    np.ma.masked_array(vorticity, near).T, origin="lower", extent=(0, 21, 0, 8), vmin=0, vmax=4, cmap="magma"
)
figure.colorbar(image, ax=plot, label="vorticity (U/d)", shrink=0.8)
for border in (7, 14):
    plot.axvline(border, color="white", linewidth=0.6, linestyle=":")
plot.set(xlabel="x/d", ylabel="y/d", title=f"Re {REYNOLDS:g}, three blocks, step {solver.steps}")
figure.savefig(arguments.output, dpi=90)
print(f"picture: {arguments.output}")
