"""Drag of a car from its STL file, with its confidence interval and a picture: python examples/wind_tunnel.py [car.stl]

Without a file it makes a body like Ahmed's, a box with a slanted rear. Then come the cells along it and the turnovers.
"""

import sys

import trimesh

import lbmgpu as lbm

if len(sys.argv) < 2:
    side = [(0, 0), (1.044, 0), (1.044, 0.194), (0.843, 0.288), (0, 0.288)]  # x and z in metres
    corners = [(x, y, z) for y in (-0.1945, 0.1945) for x, z in side]
    trimesh.convex.convex_hull(corners).export("car.stl")
stl, cells, turnovers = [*sys.argv[1:], *["car.stl", "64", "30"][len(sys.argv) - 1 :]]

tunnel = lbm.WindTunnel(
    stl, length_phys=1.044, speed_phys=40.0, clearance_phys=0.05, cells_across=int(cells), settle=float(turnovers) / 3
)
print(tunnel)
tunnel.run(float(turnovers))
print(tunnel.coefficients())
surfaces = tunnel.surfaces()  # once, as a fine mesh takes a while
print(tunnel.trust(surfaces))
surfaces["body"].to_vtk("car.vtp")
tunnel.plot().savefig("car.png")
