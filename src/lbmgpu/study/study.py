"""The study: the users' interface to run a function over many sets of parameters and to get one labelled dataset."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import checks
from ..errors import MissingResultsWarning, StudyChangedWarning, warn
from ..files.folder_lock import FolderLock
from ..files.regular_files import file_path
from . import records, results
from .bar import StudyBar
from .overview import Overview, Row
from .parameters import ParameterSet, ParameterTable, check_function, one, table
from .records import CaseFolder, Record
from .running import REDONE, Options, Runner
from .source import source_of
from .worker import picklable
from .workers import Executor, Workers

if TYPE_CHECKING:
    import pandas
    import xarray

log = logging.getLogger("lbmgpu")

USUAL_BATCH = 64
MOST_TOGETHER = 1024
"""Cases of a batch, each of which has a thread."""


class Study:
    """A function run for many sets of parameters, over all devices, whose results are kept in a folder.

    Args:
        function: ``function(case, NAME=value, ...)``, which gets a `Case` and the parameters, and returns a dict of
            numbers, texts and arrays, or an xarray.Dataset. Functions of a notebook, lambdas and functions of scripts
            without ``if __name__ == "__main__":`` are sent to the workers by their code.
        parameters: a mapping of names to sequences of values (a single value is the same in all cases), a list of
            mappings, or a pandas.DataFrame with a row a case. Values are numbers, texts, tuples, arrays, paths and
            dataclasses such as ``lbm.TRT(0.01)``. A list of names alone is for a study that only `ask` adds to.
        folder: of the study, a new or an empty one, or one that this study has used. Each case has a folder in it.
        combine: of a mapping: ``"grid"``, all combinations, or ``"zip"``, the first values together, and so on.
        version: of the function, as the user counts: results of another version are others.
        on_change: where the function's source is another than that of a result: ``"keep"`` warns with
            `StudyChangedWarning` and keeps the result, ``"rerun"`` runs the case again. Comments and docstrings do not
            count; functions of the same module that the function calls do.
        batch: have each worker run so many cases at a time, each in a thread of its own, and the solvers that
            ``case.solver(...)`` gives advance together, as an `Ensemble` does: for many small domains on a GPU. True is
            64. The function stays as it is, and so do the bits; what it prints goes to ``output.txt`` in `folder`.

    Raises:
        TypeError, ValueError: parameters that the function does not take, or that it needs and that are missing; cases
            that appear twice; a folder of another study. Nothing has started then.
        ImportError: xarray, h5netcdf or cloudpickle is missing: ``pip install 'lbmgpu[study]'``.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        parameters: Any,
        folder: str | os.PathLike[str],
        *,
        combine: str = "grid",
        version: str | int = "",
        on_change: str = "keep",
        batch: bool | int = False,
    ) -> None:
        results.load_xarray()
        self._batch = _batch_size(batch)
        self._version = str(version)
        self._on_change = checks.choice("on_change", on_change, ("keep", "rerun"))
        names_only = _names_only(parameters)
        if names_only is None:
            self._table = table(parameters, combine=combine, version=self._version)
        else:
            self._table = ParameterTable((), names_only, None)
        check_function(function, self._table.names)
        self._function = function
        picklable(function)
        self.folder: Path = file_path("folder", folder).absolute()
        self._source = self._entered()
        self._warned = False
        self._idle: tuple[object, Workers] | None = None

    def __repr__(self) -> str:
        return f"Study({self._name}, {len(self._table.sets)} cases, folder={str(self.folder)!r})"

    def _repr_html_(self) -> str:
        return self._overview()._repr_html_()

    def __len__(self) -> int:
        return len(self._table.sets)

    def run(
        self,
        devices: str | Sequence[str] = "all",
        *,
        per_device: int | None = None,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: bool = True,
        retry: int = 0,
        redo: Iterable[str] = REDONE,
    ) -> xarray.Dataset:
        """Run the cases that have no result yet, and return the dataset of all.

        A case that diverges, raises, is killed or runs out of memory becomes a row with its ``status`` and
        ``message``, and the others go on. Ctrl-C, or the death of this process, loses no result: the next `run` does
        what is missing, and cases that saved checkpoints go on from them.

        Args:
            devices: ``"all"``, every GPU, or the CPU where there is none; a device's name, or a list of them. Each
                worker process sees its own GPU only.
            per_device: cases at a time on each device; None for one a GPU, and on the CPU one a core. A case that finds
                too little memory beside others waits, and runs alone.
            threads: CPU threads of each case; None for the cores shared alike among the workers.
            executor: an engine that runs the cases in place of processes of this host: a
                `concurrent.futures.Executor` such as ``mpi4py.futures.MPIPoolExecutor``, that of
                ``dask.distributed.Client.get_executor``, of submitit or of executorlib. Its workers must see `folder`;
                `devices` then is ``"all"``, each worker's own GPU, or one device's name.
            progress: show a bar over the cases, in a terminal or a notebook.
            retry: how often a case that failed, was killed or ran out of memory is run again before it is left.
            redo: statuses of cases that earlier runs left without a result and that are run again; of the others,
                those of another source only.

        Returns:
            As `results`.

        Raises:
            TypeError, ValueError: a wrong argument.
            OSError: another process is at work in the folder, or it cannot be written to.
            KeyboardInterrupt: Ctrl-C was pressed; the workers have ended.
        """
        if not self._table.sets:
            raise ValueError("parameters: names alone were given; the cases of such a study come by ask(...)")
        options = Options(devices, per_device, threads, executor, progress, retry, self._batch)
        self._run(self._table, options, redo)
        return self._told_of(self._table)

    def results(self, variables: Sequence[str] | None = None) -> xarray.Dataset:
        """The dataset of all cases, with what has ended so far; also while another process runs the study.

        Of a grid it has the parameters as dimensions, else ``case``, with the parameters as coordinates. What a case
        lacks is NaN, or an empty text. Variables ``status`` and ``message`` tell of the cases; `cases` tells more.

        Args:
            variables: names of results; None for all.

        Raises:
            ValueError: a variable has other dimensions in one case than in another, or is a text in one alone.
        """
        if variables is not None:
            variables = checks.listed("variables", variables, "None or a list of names")
        return self._results(self._full_table(), variables)

    def cases(self) -> pandas.DataFrame:
        """A row for each case: its parameters, status, message, seconds, MLUPS, device, host, attempts and folder."""
        import pandas

        rows = [
            {name: row.case.values.get(name) for name in self._table.names}
            | {"status": row.record.status, "message": row.record.message, "seconds": row.record.seconds}
            | {"mlups": row.record.mlups, "device": row.record.device, "host": row.record.host}
            | {"attempts": row.record.attempts, "folder": str(self.folder / row.case.folder)}
            for row in self._overview().rows
        ]
        return pandas.DataFrame(rows)

    def status(self) -> None:
        """Show how the cases stand, as a table: printed, or as HTML in a notebook."""
        self._overview().show()

    def ask(
        self,
        parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        devices: str | Sequence[str] = "all",
        per_device: int | None = None,
        threads: int | None = None,
        executor: Executor | None = None,
        progress: bool = False,
        retry: int = 0,
        **values: Any,
    ) -> xarray.Dataset:
        """The result for parameters that may be new, run now unless it is there: for optimisers and bisections.

        Args:
            parameters: of a case, by name, or a list of them, which run at the same time. Parameters of one case may
                also be given as arguments, ``study.ask(reynolds=47.0)``.
            devices, per_device, threads, executor, progress, retry: as for `run`.

        Returns:
            Of one case its result. Of a list a dataset over ``case``, with ``status`` and ``message``.

        Raises:
            TypeError, ValueError: parameters that are not those of the study.
            RuntimeError: the one case has no result, with its status and message.
        """
        rows = self._asked(parameters, values)
        asked = table(rows, combine="grid", version=self._version)
        self._check_names(asked.names)
        self._run(
            asked, Options(devices, per_device, threads, executor, progress, retry, self._batch), REDONE, stays=True
        )
        if isinstance(parameters, Sequence):
            return self._told_of(asked)
        folder = self._folder(asked.sets[0])
        record = folder.record()
        if record.status != records.DONE:
            raise RuntimeError(f"{asked.sets[0]}: {record.status}: {record.message}")
        return results.read(folder.path / records.RESULT)

    def tell(self, result: Any, parameters: Mapping[str, Any] | None = None, **values: Any) -> None:
        """Keep a result that was found elsewhere, as if the study had run its case; `forget` takes it back.

        Args:
            result: what the function would return.
            parameters, values: of the case, as for `ask`.

        Raises:
            TypeError, ValueError: parameters that are not those of the study; no result that a function may return.
        """
        case = self._one_case("tell", parameters, values)
        found = results.dataset(result, tuple(case.values))
        with self._locked():
            folder = self._folder(case)
            folder.make()
            folder.clear()
            results.write(folder.path / records.RESULT, found)
            folder.write(Record(records.DONE, message="told", source=self._source, started=records.now()))

    def forget(self, parameters: Mapping[str, Any] | None = None, **values: Any) -> None:
        """Remove the result of a case, told or computed, and its checkpoints: the next `run` or `ask` runs it anew.

        Args:
            parameters, values: of the case, as for `ask`.

        Raises:
            TypeError, ValueError: parameters that are not those of the study; nothing is known of the case.
        """
        case = self._one_case("forget", parameters, values)
        with self._locked():
            folder = self._folder(case)
            if not (folder.path / records.RECORD).exists():
                raise ValueError(f"forget: {case} given, of which nothing is known")
            folder.clear()

    def close(self) -> None:
        """End the processes that wait for the next `ask`; they also end with the study and with the program."""
        if self._idle is not None:
            self._idle[1].close()
            self._idle = None

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What the above is made of

    @property
    def _name(self) -> str:
        return str(getattr(self._function, "__name__", type(self._function).__name__))

    @property
    def _kept_name(self) -> str:
        """The function's name as the folder has it."""
        return str(getattr(self._function, "study_name", self._name))

    def _entered(self) -> str:
        """Make the folder this study's; the name of the function's source in it."""
        records.enter(self.folder, self._kept_name, self._table.names)
        return records.keep_source(self.folder, source_of(self._function))

    def _folder(self, case: ParameterSet) -> CaseFolder:
        return CaseFolder(self.folder / case.folder, case)

    def _locked(self) -> ExitStack:
        stack = ExitStack()
        lock = FolderLock(self.folder)
        stack.callback(lock.release)
        return stack

    def _asked(
        self, parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None, values: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        if parameters is None:
            parameters = values
        elif values:
            raise TypeError(f"ask: {checks.shown(parameters)} given, and {', '.join(values)} as arguments; give one")
        rows = [parameters] if isinstance(parameters, Mapping) else checks.listed("ask", parameters, "a list of dicts")
        if not rows or not all(isinstance(row, Mapping) for row in rows):
            raise TypeError(
                f"ask: {checks.shown(parameters)} given, must be the parameters of a case, or a list of them"
            )
        return [dict(row) for row in rows]

    def _one_case(self, what: str, parameters: Mapping[str, Any] | None, values: Mapping[str, Any]) -> ParameterSet:
        if parameters is not None and not isinstance(parameters, Mapping):
            raise TypeError(f"{what}: {checks.shown(parameters)} given, must be the parameters of one case, a mapping")
        case = one(self._asked(parameters, values)[0], version=self._version)
        self._check_names(tuple(case.values))
        return case

    def _check_names(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._table.names:
                raise checks.unknown("parameters", name, self._table.names)
        missing = [name for name in self._table.names if name not in names]
        if missing:
            raise ValueError(f"parameters: none named {', '.join(map(repr, missing))}, which the study has")

    def _full_table(self) -> ParameterTable:
        """The cases of the study; of one that `ask` alone adds to, those that were asked for."""
        if self._table.sets:
            return self._table
        return ParameterTable(
            tuple(records.known_sets(self.folder, self._version, self._table.names)), self._table.names, None
        )

    def _results(self, cases: ParameterTable, variables: Sequence[str] | None = None) -> xarray.Dataset:
        is_in_use = records.in_use(self.folder)
        known = [self._folder(case).current(is_in_use) for case in cases.sets]
        found: list[xarray.Dataset | None] = []
        for number, (case, record) in enumerate(zip(cases.sets, known, strict=True)):
            found.append(None)
            if record.status == records.DONE:
                try:
                    found[-1] = results.read(self._folder(case).path / records.RESULT, variables)
                except OSError as error:
                    known[number] = replace(record, status=records.FAILED, message=str(error))
        return results.assemble(cases, known, found)

    def _overview(self) -> Overview:
        is_in_use = records.in_use(self.folder)
        rows = []
        for case in self._full_table().sets:
            folder = self._folder(case)
            record = folder.current(is_in_use)
            progress = folder.progress() if record.status == records.RUNNING else records.Progress()
            rows.append(Row(case, record, progress))
        return Overview(self._name, self.folder, self._table.names, rows)

    def _missing(self, cases: ParameterTable, redo: Iterable[str]) -> list[CaseFolder]:
        """The cases that are to be run; warns of results of another source, which are kept."""
        again = {records.WAITING, records.RUNNING, *redo}
        for status in again:
            checks.choice("redo", status, records.STATUSES)
        missing, changed = [], []
        for case in cases.sets:
            folder = self._folder(case)
            record = folder.record()
            is_changed = record.status != records.WAITING and record.source != self._source
            if record.status == records.DONE and is_changed and self._on_change == "keep":
                changed.append(case)
            elif record.status in again or is_changed:
                missing.append(folder)
        if changed and not self._warned:
            self._warned = True
            warn(
                f"the source of {self._name} has changed since {len(changed)} of {len(cases.sets)} results, such as "
                f"that of {changed[0]}; they are kept. Study(on_change='rerun') runs them again, and version=... keeps "
                "them beside those of the new one",
                StudyChangedWarning,
            )
        return missing

    def _run(self, cases: ParameterTable, options: Options, redo: Iterable[str], stays: bool = False) -> None:
        """Run what is missing of `cases`; the workers wait for the next call if that `stays` likely."""
        redo = tuple(redo)
        if not self._missing(cases, redo):
            return
        with self._locked():
            missing = self._missing(cases, redo)  # another process may have worked here until now
            if not missing:
                return
            workers = self._workers(options, len(missing))
            with StudyBar(len(cases.sets), len(cases.sets) - len(missing), options.progress) as bar:
                Runner(self._function, self._source, workers, bar, options.retry).run(missing)
            if stays and options.executor is None:
                self._idle = (self._kind(options, len(missing)), workers)
            else:
                workers.close()

    def _workers(self, options: Options, cases: int) -> Workers:
        """Workers for a number of cases: those that wait, if they are of the kind that is needed."""
        idle, self._idle = self._idle, None
        if idle is not None and idle[0] == self._kind(options, cases) and options.executor is None:
            return idle[1]
        if idle is not None:
            idle[1].close()
        return options.workers(cases)

    @staticmethod
    def _kind(options: Options, cases: int) -> object:
        return (options.devices, options.per_device, options.threads, min(cases, os.cpu_count() or 1))

    def _told_of(self, cases: ParameterTable) -> xarray.Dataset:
        """The dataset of cases that were run; warns of those without a result, and names one."""
        known = [(case, self._folder(case).record()) for case in cases.sets]
        left = [(case, record) for case, record in known if record.status != records.DONE]
        if left:
            case, record = left[0]
            warn(
                f"{len(left)} of {len(known)} cases of {self._name} have no result, such as {case}: {record.status}: "
                f"{checks.escaped(record.message)}; study.status() shows all",
                MissingResultsWarning,
            )
        return self._results(cases)


def _batch_size(batch: bool | int) -> int:
    if isinstance(batch, bool):
        return USUAL_BATCH if batch else 1
    return checks.integer("batch", batch, at_least=1, at_most=MOST_TOGETHER)


def _names_only(parameters: Any) -> tuple[str, ...] | None:
    """The names of parameters that were given without values; None for anything else."""
    if isinstance(parameters, list | tuple) and parameters and all(isinstance(name, str) for name in parameters):
        for name in parameters:
            if list(parameters).count(name) > 1:
                raise ValueError(f"parameters: {name!r} given as a name, must be one that an argument can have, once")
        return tuple(parameters)
    return None
