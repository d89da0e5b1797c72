"""`Solver`, and what it consists of: fields, temperature, the run loop, the report."""

from .solver import Solver, recordings_of, simulation_of

__all__ = ["Solver", "recordings_of", "simulation_of"]
