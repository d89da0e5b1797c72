"""The command line: ``lbmgpu run``, ``study``, ``bench``, ``plan``, ``schema``, ``info``."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import __version__, _core, checks
from .benchmarks import command, menus, one_device, single
from .case import read
from .case.plan import plan_case
from .case.run import run_case
from .collision_table import COLLISIONS
from .engine.kept_state import AUTO, STATES
from .engine.settings import MAX_THREADS
from .errors import CaseError, DivergedError
from .files.log_file import PlainFormatter, print_warning
from .models import PRECISIONS, STORAGES, STREAMINGS
from .parallel import devices, ranks
from .parallel.device_memory import GIB, available_memory
from .planning import planner
from .solver.report import scale_bandwidth
from .turbulence import GRADIENT_MODELS

OK, FAILED, WRONG_INPUT, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which batch systems end a job, taken as Ctrl-C is: the state is whole and can be saved."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit code.

    0: done. 1: a run failed, by divergence or a file that could not be written, or the reader of standard output has
    closed it, as ``head`` does. 2: wrong input. 130: interrupted. 143: a run was ended by SIGTERM.
    """
    try:
        try:
            return _main(argv)
        finally:
            sys.stdout.flush()  # here, as the interpreter prints a traceback if it cannot flush when it ends
    except OSError as error:  # of standard output alone: `_main` has reported all others
        # What is still buffered goes nowhere, or the interpreter would fail to flush it once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            return _fail(f"standard output: {checks.reason(error)}", FAILED)
        _end_other_ranks(FAILED)
        return FAILED


def _main(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log = logging.getLogger("lbmgpu")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    shown, warnings.showwarning = warnings.showwarning, print_warning
    try:
        command: Callable[[argparse.Namespace], int] = arguments.command
        return command(arguments)
    except Terminated:
        return _fail("terminated", TERMINATED)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except CaseError as error:
        problems = [checks.escaped(f"{path}: {message}") for path, message in error.problems]
        return _fail("the case is wrong:\n" + "\n".join(f"  {line}" for line in problems), WRONG_INPUT)
    except (_core.CudaError, DivergedError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError) and error.filename is None:  # standard output, see `main`
            raise
        missing = isinstance(error, FileNotFoundError)
        return _fail(str(error) or type(error).__name__, WRONG_INPUT if missing else FAILED)
    except (ImportError, TypeError, ValueError) as error:
        return _fail(str(error), WRONG_INPUT)
    finally:
        log.removeHandler(handler)
        warnings.showwarning = shown


def _fail(message: str, code: int) -> int:
    """Say it, once where all ranks of a job fail alike, and end the job."""
    rank, message = _rank(), checks.escaped(message, keep="\n")
    if rank > 0:
        time.sleep(3 * ranks.LAST_WORDS)  # rank 0 may be about to end the job with the same words
    print(f"lbmgpu: {message}" if rank == 0 else f"lbmgpu, rank {rank}: {message}", file=sys.stderr)
    _end_other_ranks(code)
    return code


def _rank() -> int:
    mpi: Any = sys.modules.get("mpi4py.MPI")
    return 0 if mpi is None else int(mpi.COMM_WORLD.Get_rank())


def _one_or_more(text: str) -> str | list[str]:
    names = text.split(",")
    return names[0] if len(names) == 1 else names


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(n) for n in text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} given, must be cells along each axis, as in 512x512x512") from None


def _shares(text: str) -> tuple[float | str, ...]:
    try:
        return menus.parse_shares(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _share(text: str) -> float | str:
    found = _shares(text)
    if len(found) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} given, must be one number from 0 to below 1, or auto")
    return found[0]


def _shape_or_case(text: str) -> tuple[int, ...] | Path:
    return Path(text) if text.endswith(".json") else _shape(text)


def _number(check: Callable[..., Any], convert: Callable[[str], Any], **limits: Any) -> Callable[[str], Any]:
    """An argparse type that says what would be right."""

    def parse(text: str) -> Any:
        try:
            return check("value", convert(text), **limits)
        except ValueError as error:
            kind = "an integer" if convert is int else "a number"
            detail = str(error) if str(error).startswith("value") else f"{text!r} given, must be {kind}"
            raise argparse.ArgumentTypeError(detail) from None

    return parse


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lbmgpu", description="Lattice Boltzmann fluid simulation.")
    parser.add_argument("--version", action="version", version=f"lbmgpu {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    count = _number(checks.integer, int, at_least=1)
    threads = _number(checks.integer, int, at_least=1, at_most=MAX_THREADS)

    run = commands.add_parser("run", help="run a JSON case", description="Run a JSON case and leave its files.")
    run.add_argument("case", metavar="CASE.json", help="the case, in lattice units; a wind tunnel in SI units")
    run.add_argument("--output", metavar="DIR", help="folder for the files it leaves")
    run.add_argument("--steps", metavar="N", type=_number(checks.integer, int), help="steps of the whole case")
    run.add_argument("--no-progress", action="store_true", help="show no progress bar")
    run.add_argument("--threads", metavar="N", type=threads, help="number of CPU threads (all cores)")
    run.add_argument(
        "--device",
        type=_one_or_more,
        metavar="DEVICE[,DEVICE...]",
        help="auto, cpu, cuda, cuda:1, or several, cuda:0,cuda:1; the case's own if not given",
    )
    run.add_argument(
        "--layout", metavar="FILE", help="blocks, or auto: planned over the devices; the case's own if not given"
    )
    run.add_argument("--restart", metavar="CHECKPOINT", help="go on from a checkpoint of this case")
    run.set_defaults(command=_run)

    several = commands.add_parser(
        "study",
        help="run a JSON case for sets of parameters",
        description="Run a JSON case for all combinations of the lists that stand in place of values in it, several at "
        "a time. The study's folder keeps all results: the same command again runs what is missing.",
    )
    several.add_argument("case", metavar="STUDY.json", help="a case with lists in place of values", type=Path)
    several.add_argument("--output", metavar="DIR", help="folder of the study; the case's own if not given")
    several.add_argument(
        "--devices",
        metavar="DEVICE[,DEVICE...]",
        type=_one_or_more,
        default="all",
        help="all (every GPU, or the CPU where there is none; the default), cpu, cuda:1, or several",
    )
    several.add_argument("--per-device", metavar="N", type=count, help="cases at a time on each device")
    several.add_argument("--zip", action="store_true", help="the first entries of all lists together, and so on")
    retry = _number(checks.integer, int, at_least=0)
    several.add_argument("--retry", metavar="N", type=retry, default=0, help="attempts more at a case that fails (0)")
    several.add_argument("--rerun", action="store_true", help="run again what is of the case before a change of it")
    several.add_argument("--status", action="store_true", help="show how the cases stand; run nothing, write nothing")
    several.add_argument("--no-progress", action="store_true", help="show no progress bar")
    several.set_defaults(command=_study)

    measure = commands.add_parser(
        "bench",
        help="measure speeds",
        description="Measure speeds and compare them with the memory bandwidth of the same machine. Without a "
        "configuration: the menu of configurations that the performance figures are about. Over several devices, or "
        "under mpiexec: how the speed grows with them. Over GPUs and the CPU: what a share of the domain for the CPU "
        "brings.",
    )
    measure.add_argument(
        "--device",
        default="cpu",
        type=_one_or_more,
        metavar="DEVICE[,DEVICE...]",
        help="cpu (the default), cuda, cuda:1, auto, or several, cuda:0,cuda:1",
    )
    measure.add_argument("--stencil", choices=_core.stencil_names())
    measure.add_argument("--collision", choices=list(COLLISIONS))
    measure.add_argument("--precision", choices=PRECISIONS)
    measure.add_argument("--storage", choices=STORAGES, help="the precision if not given")
    measure.add_argument("--streaming", choices=STREAMINGS)
    measure.add_argument("--state", choices=STATES, help="what cells keep; alone: a menu of moments")
    measure.add_argument("--flow", choices=single.FLOWS, help="what is in the box; periodic if not given")
    measure.add_argument("--turbulence", choices=list(GRADIENT_MODELS), help="a model of velocity gradients")
    measure.add_argument("--every", metavar="K", type=count, help="steps for which its eddy viscosity holds (1)")
    measure.add_argument("--size", metavar="N", type=count, help="cells a side (192; 4096 in the plane, 1024 of D2Q37)")
    measure.add_argument("--members", metavar="N", type=count, help="so many equal boxes, which advance together (1)")
    measure.add_argument("--threads", metavar="N", type=threads, help="number of CPU threads (all cores)")
    measure.add_argument("--shape", metavar="SHAPE", type=_shape, help="cells of the domain, as in 512x512x128")
    measure.add_argument("--parts", metavar="PARTS", type=_shape, help="blocks along each axis, as in 1x2x2")
    measure.add_argument("--weak", action="store_true", help="--shape is of each block; compare with one alone")
    measure.add_argument(
        "--cpu-share", metavar="S[,S...]", type=_shares, help="part of each GPU's cells for its CPU, or auto"
    )
    measure.add_argument(
        "--menu", choices=menus.NAMES, help="of several devices, scaling if not given; or of parts of a step"
    )
    measure.add_argument("--model", action="store_true", help="of several devices: the cost model beside each row")
    seconds = _number(checks.number, float, above=0, at_most=3600)
    measure.add_argument("--seconds", metavar="S", type=seconds, help="of steps, a repeat (1; 3 over several devices)")
    measure.add_argument("--repeats", metavar="R", type=count, help="repeats (5; 1 over several devices)")
    measure.add_argument("--json", metavar="FILE", help="write the figures there too")
    measure.add_argument(
        "--tune", action="store_true", help="on a GPU: time all launches first, and remember the fastest"
    )
    measure.set_defaults(command=_bench)

    plan = commands.add_parser(
        "plan",
        help="plan a layout over devices",
        description="Measure devices and the links between them, predict the step of every way to cut the domain over "
        "them, and write the fastest as a layout.",
    )
    plan.add_argument(
        "what",
        metavar="SHAPE|CASE.json",
        type=_shape_or_case,
        help="cells along each axis, as in 512x512x512, or a case, which says all but the devices",
    )
    plan.add_argument("--stencil", choices=_core.stencil_names(), help="D3Q19 if not given")
    plan.add_argument("--collision", choices=list(COLLISIONS), help="the first that goes with stencil and state")
    plan.add_argument("--precision", choices=PRECISIONS, help="float32 if not given")
    plan.add_argument("--storage", choices=STORAGES, help="the precision if not given")
    plan.add_argument("--streaming", choices=STREAMINGS, help="in-place if not given, of moments two-lattice")
    plan.add_argument("--state", choices=(*STATES, AUTO), help="what cells keep; populations if not given")
    plan.add_argument(
        "--devices",
        metavar="DEVICE[,DEVICE...]",
        type=lambda text: text.split(","),
        help="one for each block (the case's own, or all GPUs, or the CPU where there is none)",
    )
    plan.add_argument("--walls", metavar="AXES", help="axes along which it is not periodic, as in yz")
    plan.add_argument("--threads", metavar="N", type=threads, help="number of CPU threads (all cores)")
    plan.add_argument("--cpu-share", metavar="S", type=_share, help="part of each GPU's cells for its CPU, or auto")
    plan.add_argument("--output", metavar="FILE", help="write the layout there, as JSON")
    plan.add_argument(
        "--measure",
        action="store_true",
        help="also run the first few for a moment, compare, and write the fastest of them",
    )
    plan.set_defaults(command=_plan)

    whole = "Print the JSON schema of a case, for editors that complete and check as one types."
    schema = commands.add_parser("schema", help="print the JSON schema of a case", description=whole)
    schema.set_defaults(command=_schema)

    info = commands.add_parser("info", help="version and machine", description="Show the version and the machine.")
    info.add_argument("--bandwidth", action="store_true", help="measure the in-place STREAM scale, x <- a x, too")
    info.set_defaults(command=_info)
    return parser


@contextmanager
def _termination() -> Iterator[None]:
    """Raise Terminated at SIGTERM, but not while there is one that is on its way: it must not disturb the saving.

    Python drops what is raised in a destructor, for instance: the next signal then raises again.
    """
    last: weakref.ref[Terminated] | None = None

    def terminate(*_: Any) -> None:
        nonlocal last
        if last is None or last() is None:
            error = Terminated()
            last = weakref.ref(error)
            try:
                raise error
            finally:
                del error  # or this frame, which its traceback holds, would keep it for ever

    if threading.current_thread() is not threading.main_thread():  # no other may set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(arguments: argparse.Namespace) -> int:
    comm = ranks.launched()
    if _rank() > 0:
        logging.getLogger("lbmgpu").setLevel(logging.WARNING)  # what all ranks would say
    with _termination():
        run_case(
            arguments.case,
            folder=arguments.output,
            steps=arguments.steps,
            progress=not arguments.no_progress,
            threads=arguments.threads,
            device=arguments.device,
            layout=arguments.layout,
            comm=comm,
            restart=arguments.restart,
        )
    return OK


def _study(arguments: argparse.Namespace) -> int:
    from .study import command as studies  # here, as xarray takes a while to be loaded

    if ranks.launched() is not None:
        raise ValueError("study: started as several processes by an MPI launcher; it starts its own: without that")
    with _termination():
        whole = studies.run(
            arguments.case,
            arguments.output,
            devices=arguments.devices,
            per_device=arguments.per_device,
            combine="zip" if arguments.zip else "grid",
            retry=arguments.retry,
            progress=not arguments.no_progress,
            only_status=arguments.status,
            rerun=arguments.rerun,
        )
    return OK if whole else FAILED


def _end_other_ranks(code: int) -> None:
    """Where a rank fails the job ends: the others may wait for it."""
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.COMM_WORLD.Get_size() > 1:
        sys.stderr.flush()
        time.sleep(ranks.LAST_WORDS)
        mpi.COMM_WORLD.Abort(code)


def _bench(arguments: argparse.Namespace) -> int:
    chosen = {
        key: getattr(arguments, key)
        for key in ("stencil", "collision", "precision", "storage", "streaming", "flow", "turbulence", "state")
        if getattr(arguments, key) is not None
    }
    comm = ranks.launched()
    shares = {} if arguments.cpu_share is None else {"cpu_shares": arguments.cpu_share}
    question = menus.Question(arguments.shape, arguments.parts, weak=arguments.weak, **shares)
    of_several = question.is_asked or arguments.menu is not None or arguments.model
    if comm is not None or not isinstance(arguments.device, str) or of_several:
        for option in [name for name in ("tune", "members", "turbulence", "every") if getattr(arguments, name)]:
            raise ValueError(f"--{option} is for one device and a box of --size")
        for option in [name for name in menus.IGNORED.get(arguments.menu, ()) if getattr(arguments, name)]:
            raise ValueError(f"--{option} does not go with the menu {arguments.menu!r}")
        question = replace(question, chosen=chosen)
        command.run(
            [arguments.device] if isinstance(arguments.device, str) else arguments.device,
            comm,
            size=arguments.size,
            threads=arguments.threads,
            seconds=arguments.seconds or 3.0,
            repeats=arguments.repeats or 1,
            file=arguments.json,
            question=question if question.is_asked else None,
            menu=arguments.menu,
            predicted=arguments.model,
        )
        return OK
    device = devices.resolve(arguments.device)
    seconds, repeats = arguments.seconds or 1.0, arguments.repeats or 5
    of_moments = chosen.get("state") == "moments" and chosen.keys() <= {"state", "streaming"}
    if of_moments and not arguments.members:
        configurations = single.menu_of_moments(arguments.size, device, chosen.get("streaming"))
    elif chosen or arguments.members or arguments.every:
        alone = single.completed(arguments.size, device, chosen, arguments.members or 1, arguments.every or 1)
        configurations = [alone]
    else:
        configurations = single.menu(arguments.size, device)
    one_device.run(
        configurations,
        device=device,
        threads=arguments.threads,
        seconds=seconds,
        repeats=repeats,
        file=arguments.json,
        tuned=arguments.tune,
    )
    return OK


def _planned(arguments: argparse.Namespace, comm: Any) -> planner.Plan:
    names = ("stencil", "collision", "precision", "storage", "streaming", "state", "walls")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if isinstance(arguments.what, Path):
        for name, value in given.items():
            raise ValueError(f"{name}: {value!r} given beside a case, which says it")
        options = {"threads": arguments.threads, "cpu_share": arguments.cpu_share, "comm": comm}
        return plan_case(arguments.what, arguments.devices, **options)
    given["cpu_share"] = arguments.cpu_share
    axes, walls = "xyz"[: len(arguments.what)], given.pop("walls", "")
    if not set(walls) <= set(axes):
        raise ValueError(f"walls: {walls!r} given, must be some of the axes {axes}")
    periodic = [axis not in walls for axis in axes]
    return planner.plan(
        arguments.what, devices=arguments.devices, periodic=periodic, threads=arguments.threads, comm=comm, **given
    )


def _plan(arguments: argparse.Namespace) -> int:
    comm = ranks.launched()
    found = _planned(arguments, comm)
    if _rank() > 0:  # which measures too
        if arguments.measure:
            found.measured()
        return OK
    print(f"update: {found.configuration.kind}{', with a temperature' if found.configuration.has_temperature else ''}")
    for line in planner.machine_lines(found.machine):
        print(line)
    print(planner.HEADER + (f"{'measured':>11}" if arguments.measure else ""))
    speeds, refused = found.measured() if arguments.measure else ({}, {})
    for candidate in found.candidates:
        print(found.row(candidate, speeds.get(candidate)))
    for candidate, error in refused.items():
        print(f"{'x'.join(map(str, candidate.tiling.parts))} was not run: {error}")
    if found.cpu_share:
        print(f"cpu share: {100 * found.cpu_share:.2f} % of each GPU's cells, which the model knows nothing of")
    if arguments.output:
        best = max(speeds, key=lambda candidate: speeds[candidate], default=found.candidates[0])
        print(f"layout: {found.layout_of(best).save(arguments.output)}")
    return OK


def _schema(_: argparse.Namespace) -> int:
    print(json.dumps(read.schema(), indent=2))
    return OK


def _info(arguments: argparse.Namespace) -> int:
    print(f"lbmgpu: {__version__}")
    for key, value in single.machine(None).items():
        print(f"{key}: {value}")
    print(f"instruction sets: {', '.join(_core.cpu_isas())}")
    print(f"stencils: {', '.join(_core.stencil_names())}")
    for key, value in devices.cuda_summary().items():
        print(f"{key}: {value}")
    print(f"memory available: {available_memory() / GIB:.1f} GiB")
    if arguments.bandwidth:
        print(f"in-place STREAM scale: {scale_bandwidth(_core.default_threads()) / 1e9:.1f} GB/s")
    return OK
