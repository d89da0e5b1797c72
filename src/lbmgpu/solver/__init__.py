"""`Solver`, and what it consists of: fields, temperature, the run loop, the report."""

from .solver import Solver

__all__ = ["Solver"]
