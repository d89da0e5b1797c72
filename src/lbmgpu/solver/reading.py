"""The part of `Solver` that reads the state: fields, sums, forces and heat, and what follows from them."""

from __future__ import annotations

from .calls import HasSimulation, collective, collective_if_gathered, of_part
from .derived import DerivedFields
from .fields import Fields
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
