"""JSON cases: read, built, planned and run."""

from .run import run_case

__all__ = ["run_case"]
