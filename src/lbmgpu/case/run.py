"""Runs a JSON case from the setup to the files that it leaves."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from .. import checks
from ..engine.kept_state import AUTO
from ..errors import CheckpointError, DivergedError, told_warnings
from ..files.atomic_write import write_text
from ..files.regular_files import file_path
from ..parallel.processes import Processes
from ..solver import Solver, simulation_of
from ..solver.report import state_words
from ..solver.run import Checkpoint, Every, RunResult
from ..solver.steady import Steady
from . import centreline, convection, record, recorders, tables
from .build import build_solver, build_steady
from .folder import WarningLog, entered, write_line
from .read import check_case, is_tunnel, read_unchecked
from .tunnel import run_tunnel

log = logging.getLogger("lbmgpu")
_ENDS = (DivergedError, TypeError, ValueError)
"""What ends a run at a step: the flow, or a value or a motion that is out of range then."""

_FILES = ("vtk", "image", "checkpoint", "forces", "heat", "centrelines")
"""What of an output leaves files."""


def run_case(
    path: str | os.PathLike[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    steps: int | None = None,
    progress: bool = True,
    threads: int | None = None,
    device: str | list[str] | None = None,
    layout: str | os.PathLike[str] | None = None,
    comm: Any = None,
    restart: str | os.PathLike[str] | None = None,
    out: TextIO | None = None,
) -> RunResult:
    """Run the case in the file at `path`.

    Args:
        path: of the case.
        folder: for the files it leaves; the case's own ``output.folder`` if None, and the case's name without that.
        steps: steps of the whole case, in place of the case's own.
        progress: False for no bar whatever the case says.
        threads: number of CPU threads, in place of the case's own.
        device: as for `Solver`, in place of the case's own.
        layout: the path of a layout or ``"auto"``, in place of the case's own.
        comm: an mpi4py communicator, as for `Solver`; rank 0 writes the files.
        restart: a checkpoint of this case to go on from.
        out: where the comparison and the report are printed; standard output if None.

    Raises:
        CaseError: the case is wrong.
        FileNotFoundError: there is no case at `path`, or no checkpoint at `restart`.
        CheckpointError: the checkpoint is, or is of another setup, or a table of the run ends long before it.
        CudaError: a GPU is asked for and cannot be used.
        DivergedError: the flow did.
        OSError: a file or the folder cannot be written, or another run is at work in the folder.
        KeyboardInterrupt: Ctrl-C was pressed; if the flow was being stepped and the disk took it, its state is in a
            checkpoint, which the log names. Of several ranks none saves.
    """
    case = read_unchecked(path)
    check_case(case)
    source = Path(os.fsdecode(path))
    if is_tunnel(case):
        if steps is not None or restart is not None:
            raise ValueError("steps or restart: given, but a case of a wind tunnel has turnovers, from the beginning")
        options = {"threads": threads, "device": device, "layout": layout, "comm": comm}
        return run_tunnel(case, source, folder=folder, progress=progress, options=options, out=out)
    return run_checked(
        case,
        source,
        folder=folder,
        steps=steps,
        progress=progress,
        threads=threads,
        device=device,
        layout=layout,
        comm=comm,
        restart=restart,
        out=out,
    )


def run_checked(
    case: dict[str, Any],
    source: Path,
    *,
    folder: str | os.PathLike[str] | None = None,
    steps: int | None = None,
    progress: bool = True,
    threads: int | None = None,
    device: str | list[str] | None = None,
    layout: str | os.PathLike[str] | None = None,
    comm: Any = None,
    restart: str | os.PathLike[str] | None = None,
    out: TextIO | None = None,
    stepped: Callable[[Solver, RunResult], object] | None = None,
    locks: bool = True,
) -> RunResult:
    """Run a case that `check_case` has looked at.

    Args:
        case: to run.
        source: the path of its file, by which it is named, and which the files that it names are beside.
        folder, steps, progress, threads, device, layout, comm, restart, out: as for `run_case`.
        stepped: called after the last step, before the files of the end state are written. Where it is given, no
            checkpoint is of a steady flow before that: a run which went on from there would not find again that it is.
        locks: keep other runs out of the folder; False where the caller does, as a study whose lock is held.

    Raises:
        As `run_case`.
    """
    from tqdm.contrib.logging import logging_redirect_tqdm  # here, as it takes a while to be loaded

    output = recorders.plain(case)
    for module in recorders.modules(case):
        import_module(module)
    if "image" in output:
        import_module("matplotlib.figure")  # takes a while, and is to fail before the run if it does
    processes = Processes.of(comm)
    with ExitStack() as stack:
        stack.enter_context(told_warnings(warned := WarningLog()))
        solver = build_solver(case, source.parent, threads, device, processes, layout)
        if restart is not None:
            solver.restore(restart)
        total = int(case["run"]["steps"]) if steps is None else checks.integer("steps", steps)
        if restart is not None and solver.steps > total:
            raise CheckpointError(f"{restart}: of step {solver.steps}, beyond the {total} steps of the case")

        target = file_path("folder", folder if folder is not None else output.get("folder", source.stem)).absolute()
        handler = processes.on_first(lambda: entered(stack, target, _left(output), restart is not None, locks))
        with logging_redirect_tqdm([log]):
            log.info("case: %s", case.get("name", source.name))
            warned.write_to(handler)
            if not recorders.entries(case) and not any(output.get(key, False) is not False for key in _FILES):
                log.info("the case asks for no 'output': nothing but run.log is left")
            if case.get("state") == AUTO:
                log.info("state: %s", state_words(simulation_of(solver)))
            try:
                recording = record.record(case, solver, target, restart is not None)
                if restart is None:
                    processes.on_first(lambda: _set_aside(target / "checkpoint.h5"))
                result = _run(
                    case, solver, total, target, progress, restart is not None, stepped is not None, recording
                )
                if stepped is not None:
                    stepped(solver, result)
                _leave(solver, output, target, out or sys.stdout)
                if result.converged or solver.steps >= int(case["run"]["steps"]):
                    recording.finish()
            except _ENDS as error:  # for the file alone: who called says it on the screen
                write_line(handler, logging.ERROR, str(error))
                raise
    return result


def _left(output: dict[str, Any]) -> list[str]:
    """The names of the files that replace others in the course of a run."""
    names = {"vtk": ["fields.vti", "fields.pvti"], "checkpoint": ["checkpoint.h5"], "centrelines": ["centrelines.txt"]}
    if "image" in output:
        names["image"] = [f"{output['image'].get('field', 'speed')}.png"]
    return [name for key, files in names.items() if output.get(key, False) is not False for name in files]


def _run(
    case: dict[str, Any],
    solver: Solver,
    total: int,
    target: Path,
    progress: bool,
    restarted: bool,
    saves_before_steady: bool,
    recording: record.Recording,
) -> RunResult:
    """Run to the end; what recorders have is written beside each checkpoint and at the end."""
    settings, output, before = case["run"], recorders.plain(case), solver.steps
    callbacks: list[Every | Checkpoint] = []
    if "log" in settings:
        callbacks.append(Every(int(settings["log"]["every"]), _log_state))
    flow = convection.of_case(case)
    for name, table in tables.TABLES.items():
        if name in output:
            full = tables.heat_table(solver, flow) if name == "heat" else table
            callbacks.append(_table(name, full, solver, target, int(output[name]["every"]), restarted))
    if recording.writers and "every" in output.get("checkpoint", {}):
        callbacks.append(Every(int(output["checkpoint"]["every"]), lambda _: recording.write()))
    if "every" in output.get("checkpoint", {}):  # after the tables, so that they have the steps up to a checkpoint
        callbacks.append(Checkpoint(target / "checkpoint.h5", int(output["checkpoint"]["every"])))
    until = build_steady(case)
    shown = progress and settings.get("progress", True)
    try:
        if until is not None and saves_before_steady and callbacks and isinstance(callbacks[-1], Checkpoint):
            result = _run_in_parts(solver, total, until, callbacks[:-1], callbacks[-1])
        else:
            result = solver.run(total - solver.steps, progress=shown, until=until, callbacks=callbacks)
    except KeyboardInterrupt:
        if simulation_of(solver).processes.size == 1:  # other ranks may not be interrupted, nor be at the same step
            _keep(solver, target)
            recording.write()
        raise
    except _ENDS:
        recording.write()
        raise
    recording.write()
    log.info("%s after %d steps, %.1f MLUPS", result.reason, solver.steps, result.mlups)
    is_whole = before < solver.steps >= int(settings["steps"])
    if until is not None and is_whole and not result.converged:
        log.warning(
            "not steady by 'run.steady' after %d steps: give more 'steps' or a larger 'tolerance'", solver.steps
        )
    return result


def _run_in_parts(
    solver: Solver, total: int, until: Steady, callbacks: Sequence[Every | Checkpoint], checkpoint: Checkpoint
) -> RunResult:
    """Run to each checkpoint by itself, which is saved unless the flow is steady."""
    updates = seconds = 0.0
    while True:
        before = solver.steps
        stop = min(total, before - before % checkpoint.every + checkpoint.every)
        result = solver.run(stop - before, until=until, callbacks=callbacks)
        updates, seconds = updates + result.mlups * result.seconds, seconds + result.seconds
        if result.converged or solver.steps >= total:
            mlups = updates / seconds if seconds > 0 else 0.0
            return RunResult(solver.steps, result.converged, result.reason, seconds, mlups)
        checkpoint(solver)


def _table(name: str, table: tables.Table, solver: Solver, target: Path, every: int, restarted: bool) -> Every:
    """Begin a table, or go on with it; the callback that writes its rows."""
    path, columns = target / f"{name}.csv", table.columns(solver)
    rows = Every(every, tables.appender(path, table))
    processes = simulation_of(solver).processes
    due = processes.on_first(lambda: _begin_table(path, columns, solver, every, restarted))
    if any(processes.shared(due)):
        rows(solver)
    return rows


def _begin_table(path: Path, columns: list[str], solver: Solver, every: int, restarted: bool) -> bool:
    """Write the header, or cut what a restart writes again; whether a row is to follow at once."""
    if not (restarted and path.exists() and path.stat().st_size):
        tables.start(path, columns)
        return False
    tables.cut(path, solver.steps, every)
    return solver.steps > 0 and solver.steps % every == 0


def _set_aside(checkpoint: Path) -> None:
    """Rename what an earlier run left, which a restart would otherwise take for this run's."""
    if checkpoint.is_file():
        kept = checkpoint.with_name("checkpoint.previous.h5")
        os.replace(checkpoint, kept)
        log.warning("%s is of an earlier run: now %s", checkpoint, kept.name)


def _keep(solver: Solver, target: Path) -> None:
    """Save the state of an interrupted run; say how to go on."""
    try:
        path = solver.save(target / "checkpoint.h5")
    except (DivergedError, OSError) as error:
        log.error("the state is not saved: %s", error)
    else:
        log.warning("to go on from step %d, give the same command with --restart %s", solver.steps, path)


def _leave(solver: Solver, output: dict[str, Any], target: Path, out: TextIO) -> None:
    """Write the files of the end state, and print the comparison and the report."""
    written = []
    if "checkpoint" in output:
        written.append(solver.save(target / "checkpoint.h5"))
    if output.get("vtk"):
        written.append(solver.write_vtk(target / "fields.vti"))
    if "image" in output:
        from ..plot import speed_picture, temperature_picture

        image = output["image"]
        field, normal, position = image.get("field", "speed"), image.get("normal", "y"), image.get("position", 0.5)
        draw = temperature_picture if field == "temperature" else speed_picture
        written.append(draw(solver, target / f"{field}.png", normal, float(position)))
    for file in written:
        log.info("wrote %s", file)
    if "centrelines" in output:
        entry = output["centrelines"]
        comparison = centreline.compare(solver, entry["reference"], entry["velocity"])
        table = target / "centrelines.txt"
        simulation_of(solver).processes.on_first(lambda: write_text(table, f"{comparison}\n"))
        if comparison is not None:
            print(f"\n{comparison}", file=out)
    if output.get("report"):
        report = solver.report(gather=True)
        if solver.rank == 0:
            print(f"\n{report}", file=out)


def _log_state(solver: Solver) -> None:
    text = f"step {solver.steps}: mass {solver.mass():.9g}, kinetic energy {solver.kinetic_energy():.6g}"
    log.info("%s", f"{text}, heat {solver.heat():.9g}" if simulation_of(solver).has_temperature else text)
