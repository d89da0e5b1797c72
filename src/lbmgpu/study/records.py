"""What a study keeps in its folder: the study itself, and of each case a record, a result and its checkpoints."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import checks
from ..files import folder_lock
from ..files.atomic_write import write_text
from ..files.regular_files import read_text
from ..files.strict_json import parsed
from . import source
from .parameters import ParameterSet, shown

FORMAT = 1
STUDY, RECORD, RESULT, PROGRESS, OUTPUT = "study.json", "record.json", "result.nc", "progress.json", "output.txt"
SOURCES = "sources"
PARTS = ".part-"
"""How the names of unfinished files begin."""
TEMPORARY = ".tmp-"
"""How those begin that `write_text` has not finished."""
_RECORD_BYTES = 2**24

WAITING = "waiting"
RUNNING = "running"
DONE = "done"
FAILED = "failed"
DIVERGED = "diverged"
OUT_OF_MEMORY = "out of memory"
KILLED = "killed"
INTERRUPTED = "interrupted"
STATUSES = (WAITING, RUNNING, DONE, FAILED, DIVERGED, OUT_OF_MEMORY, KILLED, INTERRUPTED)
ENDED_WITHOUT_RESULT = (FAILED, DIVERGED, OUT_OF_MEMORY, KILLED, INTERRUPTED)


@dataclass(frozen=True)
class Record:
    """What is known of a case.

    Attributes:
        status: one of `STATUSES`.
        message: of the error that ended it; empty without one.
        seconds: in its function, over all attempts that went on from one another's checkpoints.
        attempts: how often it was started.
        device: that it ran on.
        host: that it ran on.
        process: number of the process that ran it.
        started: when, in seconds of the epoch.
        source: digest of the function's source that the result is of.
        mlups: million updates of fluid cells a second of the steps of its last attempt; 0 where that made none.
        created: when the case was first known, in seconds of the epoch.
    """

    status: str = WAITING
    message: str = ""
    seconds: float = 0.0
    attempts: int = 0
    device: str = ""
    host: str = ""
    process: int = 0
    started: float = 0.0
    source: str = ""
    mlups: float = 0.0
    created: float = 0.0


@dataclass(frozen=True)
class Progress:
    """How far a running case says it is: `done` of `total` units, steps if nothing else is said; its speed."""

    done: float = 0.0
    total: float = 0.0
    mlups: float = 0.0
    text: str = ""


@dataclass(frozen=True)
class CaseFolder:
    """The folder of a case."""

    path: Path
    parameters: ParameterSet = field(compare=False)

    def record(self) -> Record:
        """What is known of the case; of one that nothing is known of, and of a record that is damaged, `WAITING`."""
        found = _read(self.path / RECORD)
        if found.get("key") != self.parameters.key or found.get("status") not in STATUSES:
            return Record()
        known: dict[str, type] = {name: type(value) for name, value in asdict(Record()).items()}
        try:
            record = Record(**{name: known[name](value) for name, value in found.items() if name in known})
        except (TypeError, ValueError):
            return Record()
        if record.status == DONE and not (self.path / RESULT).is_file():
            return Record()
        return record

    def write(self, record: Record) -> None:
        """Keep what is known of the case."""
        values = plain_values(self.parameters)
        of_case = {"key": self.parameters.key, "version": self.parameters.version, "parameters": values}
        content = of_case | asdict(record if record.created else replace(record, created=now()))
        write_text(self.path / RECORD, json.dumps(content, indent=1) + "\n")

    def make(self) -> None:
        """Make the folder, unless it is there."""
        self.path.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        """Remove what earlier attempts left that a new one must not take for its own: result and checkpoints."""
        for pattern in (RECORD, RESULT, PROGRESS, "checkpoint*", f"{PARTS}*"):
            for path in self.path.glob(pattern):
                if path.is_file():
                    path.unlink(missing_ok=True)

    def remove_parts(self) -> None:
        """Remove the unfinished files of results that processes which were killed have left."""
        for path in self.path.glob(f"{PARTS}*"):
            path.unlink(missing_ok=True)

    def progress(self) -> Progress:
        """How far the case is."""
        found = _read(self.path / PROGRESS)
        try:
            numbers = {name: float(found.get(name, 0.0)) for name in ("done", "total", "mlups")}
        except (TypeError, ValueError):
            return Progress()
        return Progress(**numbers, text=str(found.get("text", "")))

    def write_progress(self, progress: Progress) -> None:
        """Say how far the case is, to whoever looks; a disk that does not take it is no reason to end the case.

        The file replaces the one before, but is not flushed to the disk: a crash of the machine ends the case anyway.
        """
        part = self.path / f"{PARTS}{os.getpid()}-{threading.get_ident()}-{PROGRESS}"
        with suppress(OSError):
            part.write_text(json.dumps(asdict(progress)) + "\n", encoding="utf-8")
            os.replace(part, self.path / PROGRESS)

    def current(self, in_use: bool) -> Record:
        """As `record`, but what was running in a study that nobody works on any more was interrupted."""
        record = self.record()
        return record if in_use or record.status != RUNNING else replace(record, status=INTERRUPTED)


def plain_values(case: ParameterSet) -> dict[str, Any]:
    """The parameters of a case as its record has them."""
    return {name: _json(value) for name, value in case.values.items()}


def is_same_attempt(one: Record, other: Record) -> bool:
    """Whether two records are of the same attempt at a case, by the same process."""
    return (one.host, one.process, one.started) == (other.host, other.process, other.started)


def check(folder: Path, name: str, names: tuple[str, ...]) -> bool:
    """Whether `folder` is the one of a study; False where it may become so. Nothing is written.

    Raises:
        ValueError: it is another study's, or holds other files.
        OSError: it cannot be read.
    """
    content = _content(name, names)
    path = folder / STUDY
    holds_others = folder.exists() and (not folder.is_dir() or any(map(_is_of_users, folder.iterdir())))
    if path.exists():  # looked for afterwards: another process may begin the same study
        found = _read(path)
        if found.get("format") != FORMAT:
            raise ValueError(f"folder: {path} is damaged, or of another version; give another folder")
        for what, mean in (("function", "the function"), ("parameters", "the parameters")):
            if found.get(what) != content[what]:
                raise ValueError(
                    f"folder: {folder} holds another study: {mean} {_listed(found.get(what))} there, "
                    f"{_listed(content[what])} here; give each study a folder of its own"
                )
        return True
    if holds_others:
        raise ValueError(f"folder: {folder} is there and holds no study; give a new or an empty folder")
    return False


def enter(folder: Path, name: str, names: tuple[str, ...]) -> None:
    """Make `folder` the one of a study, or find that it is.

    Raises:
        ValueError, OSError: as `check`; it cannot be made or written to.
    """
    if not check(folder, name, names):
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / STUDY, json.dumps(_content(name, names), indent=1) + "\n")


def _content(name: str, names: tuple[str, ...]) -> dict[str, Any]:
    return {"format": FORMAT, "function": name, "parameters": sorted(names)}


def _is_of_users(path: Path) -> bool:
    """Whether a file is one that no study left which was killed, or is at work, before it is one."""
    return not path.name.startswith(TEMPORARY) and path.name != folder_lock.NAME


def known_source(folder: Path, text: str) -> str:
    """The name by which records mention the source of a study's function, kept or not.

    A source that differs from a kept one in comments and layout only goes by that one's name.
    """
    name = source.digest(text)
    sources = folder / SOURCES
    if (sources / f"{name}.py").is_file():
        return name
    for known in sorted(sources.glob("*.py")):
        if source.same(read_text("source", known, at_most=_RECORD_BYTES).rstrip("\n"), text):
            return known.stem
    return name


def keep_source(folder: Path, text: str) -> str:
    """Keep the source of a study's function in its folder; its name, as `known_source` has it."""
    name = known_source(folder, text)
    path = folder / SOURCES / f"{name}.py"
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        write_text(path, text + "\n")
    return name


def known_sets(folder: Path, version: str, names: Collection[str]) -> list[ParameterSet]:
    """The parameters of all cases in a study's folder of this `version`, in the order in which they came.

    Records that are not of parameters with these `names` are none of this study.

    Values that JSON does not have, such as arrays, are the texts that tables show.
    """
    found = []
    for path in folder.glob(f"*/{RECORD}"):
        content = _read(path)
        values = content.get("parameters")
        if content.get("version") == version and isinstance(values, dict) and set(values) == set(names):
            created = content.get("created", 0.0)
            case = ParameterSet(values, str(content.get("key", "")), path.parent.name, version)
            found.append((created if isinstance(created, float) else 0.0, case.folder, case))
    return [case for _, _, case in sorted(found, key=lambda entry: entry[:2])]


def in_use(folder: Path) -> bool:
    """Whether a process is at work in the study's folder."""
    return folder_lock.is_held(folder)


def now() -> float:
    """Seconds of the epoch."""
    return time.time()


def _read(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file; an empty one if there is none, or it is damaged."""
    try:
        found = parsed(read_text("path", path, at_most=_RECORD_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _json(value: Any) -> Any:
    """A parameter's value as JSON has it; the text that tables show of one that it has not."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return [_json(entry) for entry in value] if isinstance(value, tuple | list) else shown(value)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else checks.shown(value)
