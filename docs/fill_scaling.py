"""Puts what the cost model says into scaling.md: the tables between its marks and the picture of the projection.

python docs/fill_scaling.py

What was measured is in measured/gpu-scaling.json: `lbmgpu bench --device cuda:0,cuda:1,cuda:2,cuda:3 --json FILE`; with
`--menu moments` and `--menu published` in gpu4-moments.json and published.json beside it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import lbmgpu as lbm
from lbmgpu.benchmarks.prediction import WALLS
from lbmgpu.planning.configuration import Configuration, problem_of
from lbmgpu.planning.cost_model import (
    Device,
    Link,
    Machine,
    Prediction,
    Problem,
    Tiling,
    Vector,
    incoming_bytes,
    predict,
    rank_of,
)
from lbmgpu.planning.planner import tilings

PAGE = Path(__file__).parent / "scaling.md"
MEASURED = Path(__file__).parent / "measured" / "gpu-scaling.json"
ON_FOUR = (MEASURED, *(MEASURED.with_name(name) for name in ("gpu4-moments.json", "published.json")))
PICTURE = Path(__file__).parent / "images" / "scaling.png"

D3Q19, D2Q37 = (
    tuple(tuple(int(c) for c in velocity) for velocity in lbm.stencil(name).c) for name in ("D3Q19", "D2Q37")
)

H200, FIXED = 4.0e12, 5e-6
ASSUMED = {
    "same": Link("same", 1.5e12, 3e-6),
    "peer": Link("peer", 380e9, 8e-6),
    "network": Link("network", 50e9, 5e-6),
}
SAME = Link("same", 1.5e12, 3e-6, 0.84)
FITTED = {
    "direct": {"same": SAME, "peer": Link("peer", 265e9, 5e-6, 0.84)},
    "staged": {"same": SAME, "host": Link("host", 26e9, 35e-6, 0.84)},
}
"""By the channel, to blocking rows measured on two H200 of one host."""

HOST_GPUS = 8
COUNTS = [2**k for k in range(13)]


def cluster(count: int, speed: float, links: dict[str, Link], on_a_host: int) -> Machine:
    """So many equal GPUs, with `on_a_host` of them on each host."""
    devices = (Device(f"cuda:{k % on_a_host}", speed, FIXED, host=k // on_a_host) for k in range(count))
    return Machine(tuple(devices), links)


def cube(problem_shape: Sequence[int], velocities: tuple[Vector, ...] = D3Q19, item_bytes: int = 4) -> Problem:
    """A periodic box."""
    return Problem(tuple(problem_shape), velocities, item_bytes, (True,) * len(problem_shape))


def best(
    machine: Machine, problem: Problem, overlap: bool = False, along: int | None = None, whole_rows: bool = False
) -> tuple[Prediction, Tiling]:
    """The fastest tiling; only those that cut no more than `along` axes, if given. With `whole_rows` blocks whose rows
    are cut have no overlap, as D3Q19 on GPUs of several hosts.

    Of many only the dozen with the least surface is looked at: among thousands of GPUs no other comes near.
    """
    every = [
        tiling
        for tiling in tilings(problem.shape, [1.0] * len(machine.devices), problem.radius)
        if along is None or sum(k > 1 for k in tiling.parts) <= along
    ]
    every.sort(key=lambda tiling: sum(k / n for k, n in zip(tiling.parts, problem.shape, strict=True)))
    looked_at = every[:12] + ([tiling for tiling in every if tiling.parts[0] == 1][:4] if whole_rows else [])
    found = [
        (predict(machine, problem, tiling, overlap and (tiling.parts[0] == 1 or not whole_rows)), tiling)
        for tiling in dict.fromkeys(looked_at)
    ]
    return min(found, key=lambda pair: rank_of(*pair))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"|{'|'.join(line)}|" if line[0] == "---" else f"| {' | '.join(line)} |" for line in lines) + "\n"


def measured_table() -> str:
    """What was measured on GPUs of one host, in the rows of periodic D3Q19 in float32, beside the model."""
    rows = []
    for row in json.loads(MEASURED.read_text())["scaling"]:
        if (row["stencil"], row["storage"], row["flow"]) != ("D3Q19", "float32", "periodic"):
            continue
        (channel,), shape, parts = row["channels"], tuple(row["shape"]), tuple(row["parts"])
        tiling = equal(shape, parts)
        cells = [" x ".join(map(str, shape)), " x ".join(map(str, parts)), channel]
        cells += ["overlap" if row["overlaps"] else "blocking", f"{row['efficiency']:.3f}"]
        for links in (ASSUMED if channel == "direct" else None, FITTED[channel]):
            shares = row["devices"] if row["series"] == "weak" else 1
            model = links and modelled_efficiency(row["devices"], shares, shape, tiling, links, row["overlaps"])
            cells.append(f"{model:.3f}" if model else "")
        rows.append(cells)
    head = ["domain", "blocks", "channel", "schedule", "measured", "model, assumed links", "model, fitted links"]
    return table(head, rows)


def modelled_efficiency(
    gpus: int, shares: int, shape: Vector, tiling: Tiling, links: dict[str, Link], overlap: bool
) -> float:
    """The efficiency that the model predicts for GPUs with equal numbers of blocks.

    They are compared with one GPU alone, which has the domain divided by `shares`.
    """
    gpu = Device("cuda:0", H200, FIXED)
    cells = math.prod(shape)
    alone = FIXED + cells / shares * 152 / H200
    count = len(list(tiling.places()))
    devices = tuple(replace(gpu, name=f"cuda:{gpus * k // count}") for k in range(count))
    step = predict(Machine(devices, links), cube(shape), tiling, overlap).step_seconds
    return alone * shares / (gpus * step)


MRT = Configuration(collision="MRT")
HEATED, CAVITY = replace(MRT, flow="heated"), replace(MRT, flow="cavity")
CHANNEL = Configuration("D3Q27", "MRT", flow="channel")
GAS = Configuration("D2Q37", "ThermalBGK", "float64", "float64", "two-lattice", flow="plates")
MOMENTS = Configuration(collision="Regularized", streaming="two-lattice", state="moments")
EIGHT: list[tuple[Configuration, Vector, Vector]] = [
    (MRT, (1024, 1024, 1024), (1, 1, 8)),
    (MRT, (1024, 1024, 1024), (1, 2, 4)),
    (MRT, (1024, 1024, 1024), (2, 2, 2)),
    (replace(MRT, storage="float16"), (1024, 1024, 1024), (1, 2, 4)),
    (MRT, (512, 512, 4096), (1, 1, 8)),
    (MRT, (512, 512, 512), (1, 1, 8)),
    (MRT, (512, 512, 512), (1, 2, 4)),
    (MRT, (256, 256, 256), (1, 1, 8)),
    (MRT, (256, 256, 256), (2, 2, 2)),
    (CAVITY, (384, 384, 384), (2, 2, 2)),
    (HEATED, (512, 512, 512), (1, 1, 8)),
    (HEATED, (1024, 512, 512), (1, 1, 8)),
    (CHANNEL, (882, 336, 126), (8, 1, 1)),
    (GAS, (4096, 4096), (1, 8)),
    (GAS, (4096, 4096), (2, 4)),
    (GAS, (4096, 32768), (1, 8)),
    (MOMENTS, (512, 512, 4096), (1, 1, 8)),
    (MOMENTS, (512, 512, 512), (1, 1, 8)),
]
"""Configuration, cells and blocks of what eight GPUs of a host are to be measured with."""


def eight_table() -> str:
    """What the model expects of eight GPUs of a host; the speed by that of one of four that were measured."""
    measured = [row for file in ON_FOUR for row in json.loads(file.read_text())["scaling"]]
    rows = []
    for kind, shape, parts in EIGHT:
        problem = problem_of(kind, shape, tuple(axis not in WALLS.get(kind.flow, "") for axis in "xyz"[: len(shape)]))
        of_one = predict(cluster(1, H200, ASSUMED, 1), problem, equal(shape, (1,) * len(shape)))
        of_all = predict(cluster(HOST_GPUS, H200, ASSUMED, HOST_GPUS), problem, equal(shape, parts), overlap=True)
        efficiency = of_one.step_seconds / (HOST_GPUS * of_all.step_seconds)
        alone = speed_alone(kind, measured)
        cells = [kind.kind, kind.flow, " x ".join(map(str, shape)), " x ".join(map(str, parts))]
        rows.append([*cells, f"{efficiency:.2f}", f"{efficiency * HOST_GPUS * alone:.0f}" if alone else ""])
    return table(["configuration", "flow", "cells", "blocks", "efficiency", "GLUPS"], rows)


def speed_alone(kind: Configuration, measured: Sequence[dict[str, Any]]) -> float | None:
    """GLUPS of one GPU in the largest domain that was measured with a configuration."""
    keys = ("stencil", "collision", "precision", "storage", "streaming", "flow", "state")
    found = [row for row in measured if all(row[key] == getattr(kind, key) for key in keys)]
    return float(max(found, key=lambda row: math.prod(row["shape"]))["alone_mlups"]) / 1000 if found else None


def slab_table() -> str:
    """D3Q19 in float32 on a cluster of 2010: efficiency against size and number of GPUs."""
    links = {"network": Link("network", 2e9, 50e-6)}
    counts = [2, 4, 8, 16, 32, 64]
    rows = []
    for n in (128, 192, 256, 384, 512):
        for name, along in (("slabs", 1), ("best", None)):
            cells = [f"{n} x {n} x {n}" if along else "", name]
            for count in counts:
                prediction, tiling = best(cluster(count, 100e9, links, 1), cube((n, n, n)), along=along)
                parts = "" if along else f" ({' x '.join(map(str, tiling.parts))})"
                cells.append(f"{prediction.efficiency:.2f}{parts}")
            rows.append(cells)
    return table(["domain", "tiling", *(f"{count} GPUs" for count in counts)], rows)


def plane_table() -> str:
    """D2Q37 in float64 on a cluster of 2014: slabs and blocks, with overlap and without."""
    links = {"peer": Link("peer", 8e9, 20e-6), "network": Link("network", 5e9, 30e-6)}
    counts = [4, 16, 64, 128, 256]
    rows = []
    for n in (1024, 2048, 4096):
        for name, along, overlap in (
            ("slabs", 1, False),
            ("slabs, overlapped", 1, True),
            ("best, overlapped", None, True),
        ):
            cells = [f"{n} x {2 * n}" if (along, overlap) == (1, False) else "", name]
            for count in counts:
                machine = cluster(count, 120e9, links, 4)
                prediction, tiling = best(machine, cube((n, 2 * n), D2Q37, 8), overlap, along)
                parts = "" if along else f" ({' x '.join(map(str, tiling.parts))})"
                cells.append(f"{prediction.efficiency:.2f}{parts}")
            rows.append(cells)
    return table(["domain", "tiling", *(f"{count} GPUs" for count in counts)], rows)


def equal(shape: Vector, parts: Vector) -> Tiling:
    """Parts of a shape, as equal as can be."""
    return Tiling(tuple(tuple(n // k + (j < n % k) for j in range(k)) for n, k in zip(shape, parts, strict=True)))


def tiling_table() -> str:
    """D2Q37 in float64 on H200s: what a cut along y, along x and along both costs; the exchange is hidden in each."""
    problem = cube((4096, 4096), D2Q37, 8)
    rows = []
    for count in (4, 8, 64, 256):
        machine = cluster(count, H200, ASSUMED, HOST_GPUS)
        wide = 2 ** (count.bit_length() // 2)
        for parts in ((1, count), (count, 1), (count // wide, wide)):
            tiling = equal(problem.shape, parts)
            found = predict(machine, problem, tiling, overlap=True)
            across, along = incoming_bytes(problem, tiling, (0, 0))
            cells = [str(count) if parts[0] == 1 else "", " x ".join(map(str, parts))]
            cells += [" x ".join(map(str, tiling.size((0, 0)))), f"{along / 1e6:.2f}", f"{across / 1e6:.2f}"]
            cells += [f"{1e6 * seconds:.0f}" for seconds in (found.update_seconds, found.exchange_seconds)]
            step = f"{1e6 * found.step_seconds:.0f}"
            rows.append([*cells, step, f"{found.efficiency:.2f}"])
    head = ["GPUs", "blocks", "cells of one", "MB across y", "MB across x", "update us", "exchange us"]
    return table([*head, "step us", "efficiency"], rows)


def weak(a_gpu: int, overlap: bool, counts: Sequence[int]) -> list[float]:
    """Efficiencies of boxes with so many cells a side and GPU, the GPUs in blocks as cubic as can be."""
    found = []
    for count in counts:
        k = count.bit_length() - 1
        shape = tuple(a_gpu << (k + d) // 3 for d in range(3))
        found.append(
            best(cluster(count, H200, ASSUMED, HOST_GPUS), cube(shape), overlap, whole_rows=True)[0].efficiency
        )
    return found


def strong(side: int, overlap: bool, counts: Sequence[int]) -> list[Prediction]:
    """Predictions for one box over more and more GPUs."""
    return [
        best(cluster(count, H200, ASSUMED, HOST_GPUS), cube((side,) * 3), overlap, whole_rows=True)[0]
        for count in counts
    ]


def projection_table(counts: Sequence[int]) -> str:
    """The projection's numbers."""
    columns: list[list[str]] = []
    for overlap in (False, True):
        columns += [[f"{efficiency:.2f}" for efficiency in weak(a_gpu, overlap, counts)] for a_gpu in (512, 256)]
        columns += [[f"{p.efficiency:.2f} ({p.mlups / 1e3:.0f})" for p in strong(2048, overlap, counts)]]
    rows = [[str(count), *(column[k] for column in columns)] for k, count in enumerate(counts)]
    names = ["512^3 a GPU", "256^3 a GPU", "2048^3 in all (GLUPS)"]
    return table(["GPUs", *names, *(f"{name}, overlapped" for name in names)], rows)


def projection_figure() -> Figure:
    """Weak and strong scaling to thousands of GPUs."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for colour, a_gpu in zip(("C0", "C1", "C2"), (512, 256, 128), strict=True):
        for overlap, style in ((False, "-"), (True, "--")):
            label = None if overlap else f"{a_gpu}³ cells a GPU"
            left.plot(COUNTS, weak(a_gpu, overlap, COUNTS), style, color=colour, label=label)
    for colour, side in zip(("C0", "C1", "C2"), (4096, 2048, 1024), strict=True):
        # From the number of GPUs that hold it: 76 bytes a cell, 141 GB a GPU.
        counts = [count for count in COUNTS if 76 * side**3 <= 141e9 * count]
        for overlap, style in ((False, "-"), (True, "--")):
            label = None if overlap else f"{side}³ cells in all"
            found = [prediction.efficiency for prediction in strong(side, overlap, counts)]
            right.plot(counts, found, style, color=colour, label=label)
    for plot, title in ((left, "weak scaling"), (right, "strong scaling")):
        plot.axvline(HOST_GPUS, color="0.7", linewidth=0.8)
        plot.set_xscale("log", base=2)
        plot.set_xticks(COUNTS[::2], [str(count) for count in COUNTS[::2]])
        plot.set(title=title, xlabel="GPUs", ylim=(0, 1.02))
        plot.grid(alpha=0.3)
        plot.plot([], [], "k--", label="overlapped")
        plot.legend(fontsize=8, loc="lower left")
    left.set_ylabel("efficiency")
    return figure


def filled(text: str) -> str:
    """The page with its tables made anew."""
    tables = {
        "measured": measured_table(),
        "eight": eight_table(),
        "slabs": slab_table(),
        "plane": plane_table(),
        "tilings": tiling_table(),
        "projection": projection_table([8, 64, 512, 4096]),
    }
    for name, body in tables.items():
        marks = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        text = marks.sub(lambda found, body=body: f"{found[1]}\n{body}\n{found[2]}", text)
    return text


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text()))
    projection_figure().savefig(PICTURE, dpi=90)
