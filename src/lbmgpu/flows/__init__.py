"""Initial states: fields by name, as functions of coordinates, and fields from files."""

from .from_file import read
from .named import (
    DoubleShearLayer,
    Linear,
    Noise,
    Parabolic,
    PowerLaw,
    ShearLayer,
    TaylorGreen,
    TaylorGreenDensity,
)

__all__ = [
    "DoubleShearLayer",
    "Linear",
    "Noise",
    "Parabolic",
    "PowerLaw",
    "ShearLayer",
    "TaylorGreen",
    "TaylorGreenDensity",
    "read",
]
