"""Wind tunnels: from the shape of a body to a solver, its coefficients, and what they are worth."""

from .coefficients import AeroCoefficients, Estimate
from .tunnel import WindTunnel

__all__ = ["AeroCoefficients", "Estimate", "WindTunnel"]
