"""Shapes: primitives, polygons, meshes and what is made of them, the cells in them and the links that they cut."""

from .airfoils import airfoil
from .base import Geometry
from .mesh import Mesh
from .polygon import Polygon, Prism
from .primitives import Box, Cylinder, Plane, Sphere

__all__ = ["Box", "Cylinder", "Geometry", "Mesh", "Plane", "Polygon", "Prism", "Sphere", "airfoil"]
