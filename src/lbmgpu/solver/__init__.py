"""`Solver`, and what it consists of: fields, temperature, the run loop, the report."""

from .solver import Solver, simulation_of

__all__ = ["Solver", "simulation_of"]
