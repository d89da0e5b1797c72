"""Heat sources as users give them, in the form that a simulation keeps."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..thermal import source_value
from ..values import Floats
from .foreign_arrays import GpuArray
from .gpu_fields import GpuField, field_of
from .settings import Settings


def evaluate_source(settings: Settings, source: Any) -> Floats | GpuField | None:
    """A heat source as given by the user, as a read-only array or on a GPU; TypeError or ValueError for a wrong one."""
    if source is None:
        return None
    subdomain = settings.subdomain
    if isinstance(source, GpuArray):
        shape, window = settings.domain.shape, subdomain.window
        box = window if subdomain.is_part(source.shape, 0) else ((0,) * len(shape), shape)
        field = field_of(settings, source, None, box)
        if field is not None:
            checks.temperatures("source", field.extremes)
            return field
        source = source.on_host()
    result, _ = subdomain.field("source", source_value(source), None, subdomain.window)
    result = result.copy()
    checks.temperatures("source", result)
    result.flags.writeable = False
    return result
