"""The part of `Solver` that reads the state: fields, sums, forces and heat, and what follows from them."""

from __future__ import annotations

from typing import Any

from ..geometry.mesh import Mesh
from .calls import HasSimulation, collective, collective_if_gathered, of_part
from .derived import DerivedFields
from .fields import Fields
from .surface import Surface, make_surface
from .thermal import ThermalFields


def _fields_of(solver: ReadSolver) -> Fields:
    return solver._fields


def _thermal_of(solver: ReadSolver) -> ThermalFields:
    return solver._thermal


def _derived_of(solver: ReadSolver) -> DerivedFields:
    return solver._derived


class ReadSolver(HasSimulation):
    """The methods of a solver that read its state."""

    _fields: Fields
    _thermal: ThermalFields
    _derived: DerivedFields

    # Fields, sums and forces, as `fields.py` and `thermal.py` make them

    density = collective_if_gathered(of_part(_fields_of, Fields.density))
    velocity = collective_if_gathered(of_part(_fields_of, Fields.velocity))
    eddy_viscosity = collective(of_part(_fields_of, Fields.eddy_viscosity))
    populations = collective_if_gathered(of_part(_fields_of, Fields.populations))
    device_array = of_part(_fields_of, Fields.device_array)
    mass = collective(of_part(_fields_of, Fields.mass))
    momentum = collective(of_part(_fields_of, Fields.momentum))
    kinetic_energy = collective(of_part(_fields_of, Fields.kinetic_energy))
    body_force = collective(of_part(_fields_of, Fields.body_force))
    body_torque = collective(of_part(_fields_of, Fields.body_torque))
    face_force = collective(of_part(_fields_of, Fields.face_force))
    face_torque = collective(of_part(_fields_of, Fields.face_torque))
    temperature = collective_if_gathered(of_part(_thermal_of, ThermalFields.temperature))
    heat = collective(of_part(_thermal_of, ThermalFields.heat))
    heat_flux = collective(of_part(_thermal_of, ThermalFields.heat_flux))
    mean_heat_flux = collective(of_part(_thermal_of, ThermalFields.mean_heat_flux))
    nusselt = collective(of_part(_thermal_of, ThermalFields.nusselt))
    nusselt_map = collective(of_part(_thermal_of, ThermalFields.nusselt_map))

    # Fields that follow from these, as `derived.py` makes them

    pressure = collective_if_gathered(of_part(_derived_of, DerivedFields.pressure))
    speed = collective_if_gathered(of_part(_derived_of, DerivedFields.speed))
    velocity_gradient = collective(of_part(_derived_of, DerivedFields.velocity_gradient))
    vorticity = collective(of_part(_derived_of, DerivedFields.vorticity))
    strain_rate = collective(of_part(_derived_of, DerivedFields.strain_rate))
    q_criterion = collective(of_part(_derived_of, DerivedFields.q_criterion))
    dissipation = collective(of_part(_derived_of, DerivedFields.dissipation))
    wall_shear_stress = collective(of_part(_derived_of, DerivedFields.wall_shear_stress))
    to_xarray = collective(of_part(_derived_of, DerivedFields.to_xarray))

    # What the fluid does to the surface of a body, as `surface.py` finds it

    @collective
    def surface(
        self,
        where: str,
        *,
        speed: float | None = None,
        density: float = 1.0,
        size: float = 1.0,
        mesh: Mesh | None = None,
        mean: Any = None,
    ) -> Surface | None:
        """Pressure and friction on the triangles of a body in three dimensions.

        To the fluid cells within 2.5 cells of the centre of a triangle, and in front of it, polynomials of second order
        are fitted by least squares: that of the pressure has its value on the triangle, that of the velocity is the
        wall's at a distance of 0 and has the derivative along the normal there; distances are those of the cells'
        centres to the triangles. The friction is the dynamic viscosity times that derivative, without its part along
        the normal; `WALE` and `Vreman` vanish at a wall, `Smagorinsky` is added. All processes call it together.

        Triangles are chords of round bodies: with edges of a tenth of the radius a sphere's enclose 0.2 % less than it.

        Args:
            where: the name of a body that is a `Geometry`: a `Mesh`, a `Sphere`, a `Box` or a `Cylinder` with ends.
            speed: of the undisturbed flow, cells a step, for the coefficients; None for none.
            density: of the undisturbed flow; pressures are relative to it.
            size: triangles with longer edges are cut, in cells.
            mesh: a `Mesh` where the body's surface is, for a body of cells or of another geometry; None for its own.
            mean: a recorder ``Mean("velocity", "pressure")`` of this solver, whose means are taken in place of the
                state of now; None for now. The eddy viscosity of `Smagorinsky` is that of now in any case. Not of a
                wall whose velocity changes in time.

        Returns:
            A `Surface` on rank 0, None elsewhere.

        Raises:
            TypeError, ValueError: a wrong argument. `GeometryError`: no triangles are known of the body.
        """
        with self._simulation.lock:
            return make_surface(self._simulation, self._fields, where, speed, density, size, mesh, mean)
