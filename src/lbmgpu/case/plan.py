"""Plans the layout of a JSON case over devices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .. import _core, models
from ..conditions import engine_name
from ..engine.kept_state import AUTO
from ..planning.planner import Plan, plan
from ..turbulence import of_record
from .input_errors import at
from .read import read_case


def plan_case(
    path: str | os.PathLike[str],
    devices: str | Sequence[str] | None = None,
    *,
    threads: int | None = None,
    comm: Any = None,
    cpu_share: float | str | None = None,
) -> Plan:
    """The plan of the case in the file at `path`, by its shape, numbers and periodic faces; bodies do not count.

    Args:
        path: of the case.
        devices: as for `plan`, in place of the case's own; all GPUs if neither says more than ``"auto"``.
        threads: of the CPU, in place of the case's own.
        comm: as for `plan`.
        cpu_share: as for `plan`, in place of the case's own.

    Raises:
        CaseError: the case is wrong.
        FileNotFoundError: there is none.
        TypeError, ValueError: wrong devices, or more than blocks that the domain can be cut into.
        CudaError: a GPU cannot be used.
    """
    case = read_case(path)
    faces, shape = case.get("faces", {}), [int(n) for n in case["domain"]["shape"]]
    if devices is None and case["run"].get("device", "auto") != "auto":
        devices = case["run"]["device"]
    with at(case):
        return plan(
            shape,
            case["domain"]["stencil"],
            devices,
            collision=case["collision"]["model"],
            precision=case.get("precision", "float32"),
            storage=case.get("storage"),
            streaming=case.get("streaming"),
            periodic=[
                f"-{axis}" not in faces or faces[f"-{axis}"]["condition"] == "periodic" for axis in "xyz"[: len(shape)]
            ],
            threads=case["run"].get("threads") if threads is None else threads,
            comm=comm,
            thermal="thermal" in case and not models.of(case["domain"]["stencil"]).carries_temperature,
            turbulence=of_record(case["turbulence"]) if "turbulence" in case else None,
            hybrid=case["collision"].get("hybrid"),
            cpu_share=case["run"].get("cpu_share") if cpu_share is None else cpu_share,
            state=_state(case),
        )


def _state(case: dict[str, Any]) -> str:
    """What a cell keeps, as for `plan`, which knows neither the faces nor the bodies that a choice depends on."""
    state = str(case.get("state", "populations"))
    if state != AUTO:
        return state
    faces = [engine_name(face["condition"], face.get("scheme")) for face in case.get("faces", {}).values()]
    faces_go = set(faces) <= set(_core.moment_faces()) and not case.get("sponges")
    rests = not any("motion" in body for body in case.get("bodies", []))
    return AUTO if faces_go and rests else "populations"
