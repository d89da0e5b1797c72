"""Makes the recorders that a case asks for, and has them record: what is wrong with them is named by its place."""

from __future__ import annotations

import copy
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import checks
from ..conditions import Periodic
from ..domain import FACES
from ..errors import CheckpointError
from ..files.regular_files import check_output
from ..solver import Solver, recordings_of, simulation_of
from ..solver.forces import check_face, walls
from ..solver.recording import Recorder
from .input_errors import Problems, at
from .recorders import KINDS, entries, file_of, kinds_of
from .tables import TABLES

log = logging.getLogger("lbmgpu")

OWN_FILES = ("run.log", "checkpoint.h5", "lbmgpu.lock")
"""That no recorder may write."""
_OF_PYTHON = re.compile(r"Solver\(thermal=.*\) has one")


def check(case: Mapping[str, Any], problems: Problems) -> None:
    """What of the recorders is wrong, as far as it shows without a solver; and parts of the output given twice."""
    output = case.get("output", {})
    seen: dict[str, int] = {}
    for number, entry in enumerate(output if isinstance(output, list) else ()):
        with problems.at("output", number):
            kinds = kinds_of(entry)
            names = [f"file {file_of(entry)!r}"] if kinds else [f"key {key!r}" for key in entry]
            names += [f"file {key + '.csv'!r}" for key in TABLES if key in entry and not kinds]
            for name in names:
                if name in seen:
                    raise ValueError(f"{name}: given in output[{seen[name]}] already, must be another one")
                seen[name] = number
            if kinds:
                _check_place(entry)
                if kinds[0] in ("forces", "coefficients", "heat_flux"):
                    _check_part(kinds[0], entry[kinds[0]], case)
                if "heat_flux" in kinds and "thermal" not in case:
                    raise ValueError(f"heat_flux: {entry['heat_flux']!r} given, but the case has no 'thermal'")
                with _by_key(entry):
                    recorder = _made(entry, Path(), restarted=False)
                if hasattr(recorder, "path_at"):  # a format changes its name
                    _check_inside(kinds[0], entry[kinds[0]], recorder.path_at(0))


def bodies_and_faces(case: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """The names of a case's bodies, and the kinds of the conditions of its faces."""
    bodies = [body.get("name", f"body {number}") for number, body in enumerate(case.get("bodies", []), 1)]
    faces = dict.fromkeys(FACES[: 2 * len(case["domain"]["shape"])], Periodic.kind)
    return bodies, faces | {face: entry["condition"] for face, entry in case.get("faces", {}).items()}


def _check_part(key: str, name: str, case: Mapping[str, Any]) -> None:
    """Raise ValueError for the name of no body and no face, or of a face that has no force."""
    bodies, faces = bodies_and_faces(case)
    stencil, takes_faces = case["domain"]["stencil"], key == "heat_flux"
    if name in faces and not takes_faces:
        check_face(f"{key}: {name!r}", name, stencil, faces)
    elif name not in (*bodies, *faces):
        known = [*bodies, *(faces if takes_faces else walls(stencil, faces))]
        if not known:
            raise ValueError(f"{key}: {name!r} given, but the case has no bodies")
        checks.choice(key, name, known)


def _check_place(entry: Mapping[str, Any]) -> None:
    """Raise ValueError where the file of an entry is outside the run's folder, or one that the run itself writes."""
    kind, file = kinds_of(entry)[0], file_of(entry)
    _check_inside(kind if KINDS[kind].ending is None else "file", file, Path(file))
    if str(Path(file)) in OWN_FILES:
        raise ValueError(f"file {file!r}: given, must be another name than {', '.join(OWN_FILES)}")


def _check_inside(key: str, given: str, path: Path) -> None:
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{key}: {given!r} given, must be a path inside the output folder, without '..'")


@dataclass
class Recording:
    """What a case does for its recorders, on all ranks together.

    Attributes:
        writers: write the files of histories and statistics.
        finishers: are called when the case has come to its end.
    """

    writers: list[Callable[[], object]] = field(default_factory=list)
    finishers: list[Callable[[], object]] = field(default_factory=list)

    def write(self) -> None:
        """Write the files of histories and statistics."""
        for writer in self.writers:
            writer()

    def finish(self) -> None:
        """Do what is left to be done when the case has come to its end."""
        for finisher in self.finishers:
            finisher()


def record(case: dict[str, Any], solver: Solver, target: Path, restarted: bool) -> Recording:
    """Have the recorders of a case record, with files in the folder `target`."""
    found = Recording()
    processes = simulation_of(solver).processes
    for number, entry in entries(case):
        path = target / file_of(entry)
        processes.on_first(partial(path.parent.mkdir, parents=True, exist_ok=True))
        with at(case, "output", number), _by_key(entry):
            recorder = _made(entry, target, restarted)
            solver.record(recorder)
        kind = KINDS[kinds_of(entry)[0]]
        if kind.write is not None:
            processes.on_first(partial(check_output, path))
            found.writers.append(partial(kind.write, recorder, path))
        if kind.finish is not None:
            found.finishers.append(partial(kind.finish, recorder))
        if restarted and kind is KINDS["movie"]:
            processes.on_first(partial(_set_aside, recorder))
    left = recordings_of(solver).waiting
    if left:
        names = ", ".join(repr(name) for name in left)
        log.warning("the checkpoint has recorders that the case does not ask for, which stop here: %s", names)
    return found


def _set_aside(movie: Any) -> None:
    """Rename a movie that is complete, so that its frames are gone, as this run makes one of its own frames alone."""
    if movie.path.is_file() and not movie.steps:
        kept = movie.path.with_name(f"{movie.path.stem}.previous{movie.path.suffix}")
        os.replace(movie.path, kept)
        log.warning("%s is of a run that has come to its end: now %s", movie.path, kept.name)


def _name(entry: Mapping[str, Any]) -> str:
    """Of the recorder of an entry."""
    return f"{kinds_of(entry)[0]} {file_of(entry)}"[: checks.MAX_NAME]


@contextmanager
def _by_key(entry: Mapping[str, Any]) -> Iterator[None]:
    """Name what stands at the entry's own key by that key, and not by the argument of the class."""
    try:
        yield
    except CheckpointError:
        raise
    except (TypeError, ValueError) as error:
        kind = kinds_of(entry)[0]
        argument = "fields" if KINDS[kind].leads == "*" else KINDS[kind].leads
        text = _OF_PYTHON.sub("'thermal' of the case gives it one", str(error))
        if argument not in entry and text.startswith(f"{argument}: "):
            text = f"{kind}: {text[len(argument) + 2 :]}"
        if text == str(error):
            raise
        raise ValueError(text) from error


def _made(entry: Mapping[str, Any], target: Path, restarted: bool) -> Recorder:
    """The recorder of an entry."""
    kind, *others = kinds_of(entry)
    if others:
        raise ValueError(f"{kind}: given with {', '.join(others)}, must be an entry of its own")
    found = KINDS[kind]
    module, _, name = found.recorder.rpartition(".")
    arguments = {key: copy.deepcopy(value) for key, value in entry.items() if key not in (kind, "file")}
    for key in ("every", "start"):
        if key in arguments:
            arguments[key] = int(arguments[key])
    if found.prepare is not None:
        arguments = found.prepare(arguments, restarted)
    lead = entry[kind] if found.ending is not None else target / entry[kind]
    arguments["name"] = _name(entry)
    leads = [tuple(part) if isinstance(part, list) else part for part in lead] if found.leads == "*" else []
    if found.leads != "*":
        arguments[found.leads] = lead
    recorder: Recorder = getattr(import_module(f"lbmgpu.{module}"), name)(*leads, **arguments)
    return recorder
