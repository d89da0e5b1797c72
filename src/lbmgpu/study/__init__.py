"""Parameter studies: one function run for every set of parameters, over all devices, kept in a folder."""

from .study import Study

__all__ = ["Study"]
