"""Runs the JSON case of a wind tunnel, to the coefficients, the surface and the picture that it leaves."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from .. import checks
from ..collision_table import COLLISIONS
from ..errors import CaseError, told_warnings
from ..files.atomic_write import replacing, write_text
from ..files.regular_files import file_path
from ..geometry import Geometry
from ..parallel.processes import Processes
from ..solver.run import RunResult
from ..solver.surface import Surface
from ..tunnel import WindTunnel
from ..turbulence import GRADIENT_MODELS
from .folder import WarningLog, entered, write_line
from .input_errors import Problems, at
from .read import json_path

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
    given = {key: run[key] for key in ("threads", "device") if key in run}
    given |= {key: value for key, value in options.items() if value is not None}
    processes = Processes.of(options["comm"])
    problems = Problems(case)
    with problems.at("run", "turnovers"):
        if turnovers <= settle:
            raise ValueError(f"{turnovers:g} given, must be above the {settle:g} of 'settle'")
    bodies = processes.each(lambda: _bodies(case["wind_tunnel"]["body"], source.parent, problems))
    problems.end()
    target = file_path("folder", folder if folder is not None else output.get("folder", source.stem)).absolute()
    with ExitStack() as stack:
        stack.enter_context(told_warnings(warned := WarningLog()))
        file = processes.on_first(lambda: entered(stack, target, _left(case["wind_tunnel"]["body"], output)))
        warned.write_to(file)
        log.info("case: %s", case.get("name", source.name))
        with _at_body(case), at(case, "wind_tunnel"):
            tunnel = WindTunnel(**_arguments(case["wind_tunnel"]) | {"body": bodies}, **given)
        for line in str(tunnel).splitlines():
            log.info("%s", line)
        with at(case, "run"):
            result = tunnel.run(turnovers, progress=progress and run.get("progress", True))
        log.info("%s after %d steps, %.1f MLUPS", result.reason, tunnel.solver.steps, result.mlups)
        for line in _leave(tunnel, processes, output, target, out or sys.stdout).splitlines():
            write_line(file, logging.INFO, line)
    return result


def _bodies(body: str | dict[str, str], beside: Path, problems: Problems) -> dict[str, Geometry]:
    """The bodies of a case by name; what is wrong with their files goes to `problems`."""
    found = {}
    for name, path in (body if isinstance(body, dict) else {"body": body}).items():
        place = ("wind_tunnel", "body", name) if isinstance(body, dict) else ("wind_tunnel", "body")
        with problems.at(*place):
            try:
                found[name] = Geometry.load(beside / path)
            except OSError as error:
                raise ValueError(f"{path!r} cannot be read: {checks.reason(error)}") from None
            except (TypeError, ValueError) as error:
                raise ValueError(str(error).removeprefix("path: ")) from None
    return found


@contextmanager
def _at_body(case: dict[str, Any]) -> Iterator[None]:
    """Give an error that names a body the place of the body in the case, and the arguments that it names as in JSON."""
    try:
        yield
    except CaseError as error:
        body, found = case["wind_tunnel"]["body"], []
        for path, text in error.problems:
            message = _in_json(text)
            match = re.match(r"body '(?P<name>[^']*)': ", message)
            if match is not None and isinstance(body, dict) and match["name"] in body:
                found.append((json_path(["wind_tunnel", "body", match["name"]]), message[match.end() :]))
            elif match is not None:
                found.append((json_path(["wind_tunnel", "body"]), message[match.end() :]))
            else:
                found.append((path, message))
        raise CaseError(found) from None


def _in_json(message: str) -> str:
    """A message with arguments such as ``ground=None`` as the keys of a case, ``"ground": null``."""
    message = message.replace("ground=None", '"ground": null')
    return re.sub(r"\bcells_across=(\d+)", r'"cells_across": \1', message)


def _left(body: Any, output: dict[str, Any]) -> list[str]:
    """The names of the files that `_leave` writes."""
    bodies = list(body) if isinstance(body, dict) else ["body"]
    surfaces = [f"{name}.vtp" for name in bodies] if output.get("surface", True) else []
    pictures = ["speed.png"] if output.get("image", True) else []
    return ["coefficients.txt", *(f"{name}.csv" for name in bodies), *surfaces, *pictures]


def _arguments(entry: dict[str, Any]) -> dict[str, Any]:
    """Those of `WindTunnel`, with names made classes; the bodies are as in the case."""
    found = dict(entry)
    if "collision" in found:
        found["collision"] = COLLISIONS[found["collision"]]
    if found.get("turbulence") is not None:
        found["turbulence"] = GRADIENT_MODELS[found["turbulence"]]()
    return found


def _leave(tunnel: WindTunnel, processes: Processes, output: dict[str, Any], target: Path, out: TextIO) -> str:
    """Write tables, surfaces, the picture and the summary, and print that; its end, on the flow."""
    for name, recorder in tunnel.recorders.items():
        recorder.to_csv(target / f"{name}.csv")
    surfaces = tunnel.surfaces()
    if output.get("surface", True):
        processes.on_first(lambda: _write(surfaces, target))
    if output.get("image", True):
        figure = tunnel.plot()
        processes.on_first(lambda: _save(figure, target / "speed.png"))
    summary = f"{tunnel.coefficients()}\n{tunnel.trust(surfaces)}"
    text = f"{tunnel}\n{summary}"
    processes.on_first(lambda: write_text(target / "coefficients.txt", f"{text}\n"))
    if processes.first:
        print(f"\n{text}", file=out)
    return summary


def _write(surfaces: Mapping[str, Surface | None], target: Path) -> None:
    for name, surface in surfaces.items():
        if surface is not None and surface.exposed.any():
            surface.to_vtk(target / f"{name}.vtp")


def _save(figure: Any, path: Path) -> None:
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=150)
