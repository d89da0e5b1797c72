"""Studies of JSON cases: lists in place of values become parameters, and each case is run in its folder."""

from __future__ import annotations

import copy
import json
import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..case import recorders
from ..case.areas import areas
from ..case.read import read_unchecked, validator
from ..case.run import run_checked
from ..case.sweep import Sweep, swept
from ..case.tables import plates
from ..conditions import Isothermal
from ..errors import CaseError, CheckpointError
from ..files.atomic_write import write_text
from ..files.regular_files import read_text
from ..files.strict_json import parsed
from ..solver import Solver, simulation_of
from ..solver.run import RunResult
from ..solver.steady import FIELDS, Steady
from . import records
from .case import Case, log
from .parameters import table
from .results import load_xarray
from .source import source_of
from .study import Study

ENDED = "checkpoint.ended.json"
"""Tells of a case that made its last step: if it is killed before its result is there, it ends at that step again."""

NAME = "JSON case"
"""Written to the study's folder in place of the file's name, so that a renamed file fits. The names of the parameters
tell studies apart."""

_MODULES = {"checkpoint": "h5py", "image": "matplotlib.figure", "vtk": "pyevtk.hl"}
"""What entries of a case's output need."""

_BYTES = 2**16


class JsonCase:
    """The function of such a study: runs the case in its folder, and returns its numbers.

    Args:
        sweep: the case with its lists.
        source: the path of its file, which the files that it names are beside.
    """

    def __init__(self, sweep: Sweep, source: Path) -> None:
        self._sweep, self._source = sweep, source.absolute()
        self.__name__ = source.stem
        self.study_name = NAME
        rest = copy.deepcopy(sweep.base)
        for place in sweep.places.values():  # the parameters are nothing of the source
            inner = rest
            for key in place[:-1]:
                inner = inner[key]  # type: ignore[index]
            inner[place[-1]] = None  # type: ignore[index]
        self.study_source = json.dumps(rest, indent=1, sort_keys=True)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """In a worker: load what takes a while before the time of its first case counts."""
        self.__dict__.update(state)
        output = recorders.plain(self._sweep.base)
        needed = [module for entry, module in _MODULES.items() if entry in output]
        for module in [*needed, *recorders.modules(self._sweep.base), "tqdm.contrib.logging"]:
            with suppress(ImportError):  # the case says what is missing
                import_module(module)
        validator()
        load_xarray().DataArray([0.0], coords={"axis": ["x"]}, dims="axis")  # the first one looks for other packages

    def __call__(self, case: Case, /, **values: Any) -> Any:
        """See `JsonCase`."""
        whole = self._sweep.case(values)
        write_text(case.folder / "case.json", json.dumps(whole, indent=2) + "\n")
        steps, was_steady = _ended(case.folder / ENDED)
        total = int(whole["run"]["steps"]) if steps is None else steps
        case.expect(total)
        found: dict[str, Any] = {}

        def stepped(solver: Solver, result: RunResult) -> None:
            case.check_is_current()  # or the files of the end would replace those of the attempt that took over
            is_steady = result.converged or (was_steady and solver.steps == steps)
            found.update(steps=solver.steps, converged=is_steady, **numbers(solver))
            write_text(case.folder / ENDED, json.dumps({"steps": solver.steps, "steady": is_steady}) + "\n")

        def run(restart: Path | None) -> None:
            run_checked(
                whole,
                self._source,
                folder=case.folder,
                steps=total,
                progress=False,
                threads=case.threads,
                device=None if "layout" in whole["run"] else case.device,
                restart=restart,
                stepped=stepped,
                locks=False,  # the study's lock and the case's record decide whose the folder is
            )

        checkpoint = case.folder / "checkpoint.h5"
        if not (checkpoint.is_file() and _can_go_on(whole)):
            run(None)
            return found
        try:
            run(checkpoint)
        except CheckpointError as error:
            log.warning("the case starts from the beginning: %s", error)
            run(None)
        return found


class SeenStudy(Study):
    """A study to look at, by `status`, `cases` and `results`: nothing is written to its folder."""

    def _entered(self) -> str:
        records.check(self.folder, self._kept_name, self._table.names)
        return records.known_source(self.folder, source_of(self._function))


def study_of(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    combine: str = "grid",
    on_change: str = "keep",
    only_seen: bool = False,
) -> Study:
    """The study of the case in the file at `path`, which has lists in place of values.

    Args:
        path: of the case.
        folder: of the study; the case's ``output.folder`` if None, and the case's name without that.
        combine, on_change: as for `Study`.
        only_seen: a `SeenStudy`.

    Raises:
        CaseError: it is no case with the values of the lists, each combination by itself; no lists in it.
        FileNotFoundError: there is none.
        ValueError: as `Study`.
    """
    source = Path(os.fsdecode(path))
    sweep = swept(read_unchecked(source))
    if not sweep.values:
        raise CaseError([("$", "has no list in place of a value, of which a study is made; 'lbmgpu run' runs it")])
    problems: dict[tuple[str, str], str] = {}
    for case in table(sweep.values, combine=combine, version="").sets:
        try:
            sweep.case(case.values)
        except CaseError as error:
            problems |= {problem: f"(of {case})" for problem in error.problems if problem not in problems}
    if problems:
        raise CaseError([(place, f"{message} {where}") for (place, message), where in problems.items()])
    target = folder if folder is not None else recorders.plain(sweep.base).get("folder", source.stem)
    kind = SeenStudy if only_seen else Study
    return kind(JsonCase(sweep, source), sweep.values, target, combine=combine, on_change=on_change)


def numbers(solver: Solver) -> dict[str, Any]:
    """What a study keeps of a case: sums, the largest speed, forces on bodies, heat where there is a temperature."""
    xr = load_xarray()
    speed = np.sqrt(np.sum(np.square(solver.velocity(), dtype=np.float64), axis=0))
    found: dict[str, Any] = {
        "mass": solver.mass(),
        "kinetic_energy": solver.kinetic_energy(),
        "largest_speed": float(np.nanmax(speed)),
    }
    domain = solver.domain
    if domain.bodies:
        axes = list("xyz"[: len(domain.shape)])
        forces = [solver.body_force(name) for name in domain.bodies]
        found["force"] = xr.DataArray(forces, coords={"body": list(domain.bodies), "axis": axes}, dims=("body", "axis"))
    if not simulation_of(solver).has_temperature:
        return found
    faces = {name: where for name, where in domain.thermal.items() if isinstance(where, Isothermal)}
    bodies = {n: body.thermal for n, body in domain.bodies.items() if isinstance(body.thermal, Isothermal)}
    places = [*faces, *bodies]
    found["heat"] = solver.heat()
    if places:
        fluxes = [solver.mean_heat_flux(name, area) for name, area in areas(domain, places).items()]
        found["heat_flux"] = xr.DataArray(fluxes, coords={"place": places}, dims="place")
    if solver.thermal is None:
        layer = plates(domain)
        if layer:
            values = [solver.nusselt(name) for name in layer]
            found["nusselt"] = xr.DataArray(values, coords={"place": layer}, dims="place")
        return found
    temperatures = [float(where.temperature) for where in (*faces.values(), *bodies.values())]
    difference = max(temperatures, default=0.0) - min(temperatures, default=0.0)
    if faces and difference > 0:
        lengths = [domain.shape["xyz".index(name[1])] for name in faces]
        values = [solver.nusselt(name, length, difference) for name, length in zip(faces, lengths, strict=True)]
        found["nusselt"] = xr.DataArray(values, coords={"place": list(faces)}, dims="place")
    return found


def _can_go_on(case: dict[str, Any]) -> bool:
    """Whether a run that goes on from a checkpoint looks for a steady flow at the steps at which it did before."""
    if "steady" not in case["run"]:
        return True
    if case["run"]["steady"].get("of", Steady.of) not in FIELDS:  # which have no window of earlier looks
        return False
    every = recorders.plain(case).get("checkpoint", {}).get("every", 0)
    return int(every) % int(case["run"]["steady"].get("every", Steady.every)) == 0


def _ended(path: Path) -> tuple[int | None, bool]:
    """The last step of a case that made it, and whether the flow was steady then."""
    try:
        found = parsed(read_text("", path, at_most=_BYTES))
        return int(found["steps"]), bool(found["steady"])
    except (OSError, ValueError, KeyError, TypeError):
        return None, False
