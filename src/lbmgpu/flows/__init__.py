"""Initial states: fields by name, as functions of coordinates, and fields from files."""

from .from_file import read
from .layered import Layers, LayersDensity
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

FIELDS = (
    TaylorGreen,
    TaylorGreenDensity,
    ShearLayer,
    DoubleShearLayer,
    Parabolic,
    PowerLaw,
    Linear,
    Layers,
    LayersDensity,
)
"""Those that a case knows by their `kind`."""

__all__ = [
    "FIELDS",
    "DoubleShearLayer",
    "Layers",
    "LayersDensity",
    "Linear",
    "Noise",
    "Parabolic",
    "PowerLaw",
    "ShearLayer",
    "TaylorGreen",
    "TaylorGreenDensity",
    "read",
]
