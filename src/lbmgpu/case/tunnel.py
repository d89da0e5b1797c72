"""Runs the JSON case of a wind tunnel, to the coefficients, the surface and the picture that it leaves."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from ..collision_table import COLLISIONS
from ..errors import CaseError
from ..files.atomic_write import replacing, write_text
from ..files.regular_files import file_path
from ..parallel.processes import Processes
from ..solver.run import RunResult
from ..solver.surface import Surface
from ..tunnel import WindTunnel
from ..turbulence import GRADIENT_MODELS
from .folder import entered
from .input_errors import at

log = logging.getLogger("lbmgpu")


def run_tunnel(
    case: dict[str, Any],
    source: Path,
    *,
    folder: str | os.PathLike[str] | None,
    progress: bool,
    options: dict[str, Any],
    out: TextIO | None,
) -> RunResult:
    """Run a checked case of a wind tunnel.

    Args:
        case: checked by `check_case`.
        source: the path of its file, which the bodies are named relative to.
        folder, progress, out: as for `run_case`.
        options: ``threads``, ``device``, ``layout`` and ``comm`` of `run_case`, in place of the case's own.

    Raises:
        CaseError: values that do not go together. As `run_case` too.
    """
    run, output = case.get("run", {}), case.get("output", {})
    turnovers, settle = run.get("turnovers", 30.0), case["wind_tunnel"].get("settle", 10.0)
    if turnovers <= settle:
        raise CaseError([("$.run.turnovers", f"{turnovers:g} given, must be above the {settle:g} of 'settle'")])
    given = {key: run[key] for key in ("threads", "device") if key in run}
    given |= {key: value for key, value in options.items() if value is not None}
    processes = Processes.of(options["comm"])
    target = file_path("folder", folder if folder is not None else output.get("folder", source.stem)).absolute()
    with ExitStack() as stack:
        processes.on_first(lambda: entered(stack, target, _left(case["wind_tunnel"]["body"], output)))
        log.info("case: %s", case.get("name", source.name))
        with at(case, "wind_tunnel"):
            tunnel = WindTunnel(**_arguments(case["wind_tunnel"], source.parent), **given)
        log.info("%s", tunnel)
        result = tunnel.run(turnovers, progress=progress and run.get("progress", True))
        log.info("%s after %d steps, %.1f MLUPS", result.reason, tunnel.solver.steps, result.mlups)
        _leave(tunnel, processes, output, target, out or sys.stdout)
    return result


def _left(body: Any, output: dict[str, Any]) -> list[str]:
    """The names of the files that `_leave` writes."""
    bodies = list(body) if isinstance(body, dict) else ["body"]
    surfaces = [f"{name}.vtp" for name in bodies] if output.get("surface", True) else []
    pictures = ["speed.png"] if output.get("image", True) else []
    return ["coefficients.txt", *(f"{name}.csv" for name in bodies), *surfaces, *pictures]


def _arguments(entry: dict[str, Any], beside: Path) -> dict[str, Any]:
    """Those of `WindTunnel`, with names made classes and paths those of files."""
    found = dict(entry)
    body = found.pop("body")
    found["body"] = {n: beside / path for n, path in body.items()} if isinstance(body, dict) else beside / body
    if "collision" in found:
        found["collision"] = COLLISIONS[found["collision"]]
    if found.get("turbulence") is not None:
        found["turbulence"] = GRADIENT_MODELS[found["turbulence"]]()
    return found


def _leave(tunnel: WindTunnel, processes: Processes, output: dict[str, Any], target: Path, out: TextIO) -> None:
    """Write tables, surfaces, the picture and the summary, and print that."""
    for name, recorder in tunnel.recorders.items():
        recorder.to_csv(target / f"{name}.csv")
    surfaces = tunnel.surfaces()
    if output.get("surface", True):
        processes.on_first(lambda: _write(surfaces, target))
    if output.get("image", True):
        figure = tunnel.plot()
        processes.on_first(lambda: _save(figure, target / "speed.png"))
    text = "\n".join(map(str, (tunnel, tunnel.coefficients(), tunnel.trust(surfaces))))
    processes.on_first(lambda: write_text(target / "coefficients.txt", f"{text}\n"))
    if processes.first:
        print(f"\n{text}", file=out)


def _write(surfaces: Mapping[str, Surface | None], target: Path) -> None:
    for name, surface in surfaces.items():
        if surface is not None and surface.exposed.any():
            surface.to_vtk(target / f"{name}.vtp")


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
