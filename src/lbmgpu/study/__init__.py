"""Parameter studies: one function run for every set of parameters, over all devices, kept in a folder; ensembles."""

from .ensemble import Ensemble
from .study import Study

__all__ = ["Ensemble", "Study"]
