"""Implements `lbmgpu bench` for several devices or processes, and for parts of a step.

Runs the scaling measurements, those of a share for the CPU, of layouts of memory or of halos, prints the table and
writes the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from .. import checks
from . import halo, menus, propagation, scaling, sharing, single
from .device_group import DeviceGroup
from .menus import Question


def run(
    names: Sequence[str],
    comm: Any,
    *,
    size: int | None,
    threads: int | None,
    seconds: float,
    repeats: int,
    file: str | None,
    question: Question | None = None,
    menu: str | None = None,
    predicted: bool = False,
) -> None:
    """Measure how the speed grows with the devices; for GPUs and the CPU, the gain of giving cells to the CPU.

    Args:
        names: the devices of this process, as `Solver` takes them.
        comm: an mpi4py communicator whose ranks call this together; None for one process.
        size: the number of cells a side; None for the device's default.
        threads: the number of CPU threads; None for all cores.
        seconds: the duration of the steps of a repeat.
        repeats: the number of repeats of each row.
        file: the file for the figures, as JSON; None for none.
        question: what is measured in place of a menu, or what of a menu of `menus.PARTS` is; None for a whole menu.
        menu: one of `menus.NAMES`; None for ``"scaling"``, over GPUs and the CPU for shares of all GPUs' layers.
        predicted: whether the cost model's speed is beside each row.

    Raises:
        TypeError, ValueError: a device is not there, the size cannot be cut, or memory does not suffice.
        CudaError: a GPU cannot be used.
        OSError: the file cannot be written.
    """
    group = DeviceGroup(names, comm)
    if menu in menus.PARTS:
        if predicted:
            raise ValueError(f"model: given with the menu {menu!r}, of which the cost model says nothing")
        _parts(group, menu, question or Question(), size, threads, seconds, file)
        return
    mixed = sharing.is_mixed(group)
    if mixed and (group.processes.size > 1 or menu is not None):
        raise ValueError(
            f"device: {checks.shown(group.owners)}: GPUs and the CPU together are measured in one process, without a "
            "menu; of GPUs alone cpu_share gives each CPU a part"
        )
    if question is not None and menu is not None:
        raise ValueError(f"menu: {menu!r} given beside what is to be measured, must be left out")
    size = size or scaling.default_size(group)
    timing = {"threads": threads, "seconds": seconds, "repeats": repeats}
    _print_machine(group, threads)
    own = file if group.processes.first else None
    if mixed and question is None:
        _shares(group, size, timing, own)
    else:
        what = "question" if question is not None else menu or "scaling"
        _scaling(group, rows_of(group, size, question, menu), timing, own, predicted, what)


class _Row(Protocol):
    def line(self) -> str: ...


def _parts(
    group: DeviceGroup,
    menu: str,
    question: Question,
    size: int | None,
    threads: int | None,
    seconds: float,
    file: str | None,
) -> None:
    """Measure a part of a step alone."""
    if question != Question(chosen=question.chosen):
        raise ValueError(f"menu: {menu!r} given with a shape, parts or shares, which it does not take")
    if menu == "memory":
        rows = propagation.measure_all(group, question.chosen, size, threads=threads, seconds=seconds)
        _table(group, threads, propagation.HEADER, rows, propagation.to_json, file)
    else:
        other = _other_channel(group)
        channels = ["auto"] if other is None else ["auto", other]
        found = halo.measure_all(group, question.chosen, size, threads=threads, channels=channels)
        _table(group, threads, halo.HEADER, found, halo.to_json, file)


def _table(
    group: DeviceGroup,
    threads: int | None,
    header: str,
    rows: Iterable[_Row],
    to_json: Callable[[Any, DeviceGroup, int | None], dict[str, Any]],
    file: str | None,
) -> None:
    """Print rows as they are measured, and file them, on rank 0."""
    _print_machine(group, threads)
    if group.processes.first:
        print(header, flush=True)
    measurements: list[_Row] = []
    for row in rows:
        measurements.append(row)
        if group.processes.first:
            print(row.line(), flush=True)
            single.write_json(file, to_json(measurements, group, threads))


def _print_machine(group: DeviceGroup, threads: int | None) -> None:
    if group.processes.first:
        for key, value in scaling.machine(group, threads).items():
            print(f"{key}: {value}")


def rows_of(group: DeviceGroup, size: int, question: Question | None, menu: str | None) -> list[scaling.Scaling]:
    """The rows of a question, or of a menu.

    Raises:
        ValueError: what does not go together, or a size that is too small to be cut.
    """
    owners = len(group.owners)
    if question is not None:
        return menus.asked(question, size, group)
    if menu == "published":
        return menus.published(size, owners, group.processes.size)
    if menu == "moments":
        may_overlap = any(name != "cpu" for _, name in group.owners)
        return menus.moments(size, owners, group.processes.size, _other_channel(group), may_overlap)
    if menu == "shares":
        return menus.shares(size, owners)
    return scaling.menu(size, owners, _other_channel(group))


def _scaling(
    group: DeviceGroup,
    rows: Sequence[scaling.Scaling],
    timing: dict[str, Any],
    file: str | None,
    predicted: bool,
    what: str,
) -> None:
    first = group.processes.first
    if first:
        print(scaling.LEGEND)
        if predicted:
            print("model: the efficiency by the cost model")
        print(scaling.HEADER + (f"{'model':>8}" if predicted else ""), flush=True)
    measurements = []
    for measurement in scaling.measure_all(rows, group, **timing, predicted=predicted):
        measurements.append(measurement)
        if not first:
            continue
        gain = menus.gains(measurements)[-1]
        share = f"  {100 * measurement.share:.2f} % on CPUs" if measurement.share else ""
        if share and gain is not None:
            share += f", gain {100 * gain:+.2f} %"
        print(measurement.line(predicted=predicted) + share, flush=True)
        document = scaling.to_json(measurements, group, timing["threads"])
        for row, value in zip(document["scaling"], menus.gains(measurements), strict=True):
            row["gain"] = value
        document["menu"] = what
        document["exponents"] = menus.exponents(measurements)
        single.write_json(file, document)
    for fitted in menus.exponents(measurements) if first else []:
        domain = " x ".join(map(str, fitted["shape"]))
        what = f"{fitted['stencil']} {fitted['storage']} {fitted['flow']} {domain}"
        print(f"{what}: speed ~ devices^{fitted['exponent']:.3f} over {', '.join(map(str, fitted['devices']))} devices")


def _other_channel(group: DeviceGroup) -> str | None:
    """The channel that the engine's choice is compared with; None for CPUs of several ranks, which have only one."""
    if group.processes.size == 1:
        return "staged"
    return None if all(name == "cpu" for _, name in group.owners) else "mpi"


def _shares(group: DeviceGroup, size: int, timing: dict[str, Any], file: str | None) -> None:
    fast = [name for _, name in group.owners if name != "cpu"]
    print(
        f"share: part of the cells on the CPU; without: MLUPS of {', '.join(fast)} alone\n{sharing.HEADER}",
        flush=True,
    )
    measurements = []
    for measurement in sharing.measure_all(size, fast, "cpu", **timing):
        measurements.append(measurement)
        print(measurement.line(), flush=True)
        single.write_json(file, sharing.to_json(measurements, group, timing["threads"]))
