"""Puts what `lbmgpu bench --json` and the measure_ and profile_ scripts beside this one found into performance.md.

python docs/fill_performance.py [--print] FILE ...

With --print the tables go to standard output, and the page stays as it is.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
from pathlib import Path
from typing import Any

from profile_kernels import FLOWS, METRICS

PAGE = Path(__file__).parent / "performance.md"
PHASES = {"two-lattice": "pull", "even": "even step", "odd": "odd step"}
"""What the table of kernels calls the phases of a streaming, in the order of `Phase` in lattice/streaming.h."""
KINDS = (
    "cpu",
    "gpu",
    "energy",
    "ncu",
    "ncu-moments",
    "scaling",
    "scaling-mpi",
    "scaling-moments",
    "shares",
    "published",
    "cpu-shares",
    "setup",
    "recorders",
    "open-faces",
    "turbulence",
    "moments",
    "series",
    "bodies",
    "meshes",
    "memory",
    "halo",
    "tuning",
)
KERNELS = r"void (update|apply_boundaries|update_moments|update_moments_2d)<"
"""Those of Nsight Compute's that the tables have."""
NUMBERS = {"float": "float32", "double": "float64"}
"""What the tables call the types of kernels."""
PUBLISHED = {"K40": 0.107, "K80, both GPUs": 0.220}
"""Speeds of D2Q37 in float64 in GLUPS, by E. Calore, A. Gabbana, J. Kraus, E. Pellegrini, S. F. Schifano, R.
Tripiccione, Parallel Computing 58 (2016) 1."""
MARKS = {kind: re.compile(rf"(<!-- {kind}:begin -->\n).*?(<!-- {kind}:end -->)", re.DOTALL) for kind in KINDS}


def table(result: dict[str, Any]) -> str:
    """One machine's measurements, as Markdown."""
    machine = result["machine"]
    gpu = "gpu" in machine
    if gpu:
        title = f"{machine['gpu']}, CUDA {machine['cuda']}, NVRTC {machine['nvrtc']}, Python {machine['python']}:"
    else:
        title = f"{machine['processor']}, {machine['threads']} threads, {machine['isa']}, Python {machine['python']}:"
    metered = any(row.get("watts") is not None for row in result["measurements"])
    memory = "copy" if gpu else "scale"
    stepped = any(row.get("steps_per_update", 1) > 1 for row in result["measurements"])
    counted = any(row.get("operations") is not None for row in result["measurements"])
    timed = any(row.get("update_seconds") is not None for row in result["measurements"])
    lines = [
        title,
        "",
        f"| configuration | MLUPS | B |{' steps |' if stepped else ''} GB/s | {memory} | fraction |"
        f"{' flop | GFLOP/s |' if counted else ''}{' boundary | update |' if timed else ''}"
        f"{' W | nJ |' if metered else ''}",
        f"|---|---|---|---|---|---|{'---|' * (stepped + 2 * (counted + timed + metered))}",
    ]
    for row in result["measurements"]:
        steps = f" {row['steps_per_update']} |" if stepped else ""
        speeds = f"{row['mlups']:.1f} | {row['bytes_per_update']} |{steps} {row['bandwidth'] / 1e9:.1f}"
        ratio = f"{row['memory_bandwidth'] / 1e9:.1f} | {row['bandwidth_fraction']:.3f}"
        cells = f"{name(row['configuration'])} | {speeds} | {ratio}"
        if counted:
            cells += f" | {operations(row)}"
        if timed:
            cells += "".join(f" | {number(row[f'{phase}_seconds'], '{:.1f}', 1e6)}" for phase in ("boundary", "update"))
        lines.append(f"| {cells} | {power(row)} |" if metered else f"| {cells} |")
    if gpu:
        lines += [
            "",
            "| kernel | cells a thread | threads a block | registers | stack | occupancy |",
            "|---|---|---|---|---|---|",
        ]
        lines += dict.fromkeys(
            f"| {name(row['configuration'])}: {kernel_words(kernel)} "
            f"| {kernel['cells_per_thread']} | {kernel['threads']} "
            f"| {kernel['registers']} | {kernel['local_bytes']} | {kernel['occupancy']:.2f} |"
            for row in result["measurements"]
            for kernel in row["kernels"]
        )
    return "\n".join(lines) + "\n"


def operations(row: dict[str, Any]) -> str:
    """The floating-point operations of a cell's update and of a second; empty cells where they were not counted."""
    return " |" if row.get("operations") is None else f"{row['operations']} | {row['flops'] / 1e9:.0f}"


def kernel_words(kernel: dict[str, Any]) -> str:
    """An update kernel's phase of a streaming, and which cells it updates, if not all."""
    return " ".join(filter(None, (PHASES[kernel["phase"]], kernel.get("part", ""))))


def power(row: dict[str, Any]) -> str:
    """What a GPU drew in a row's steps, and an update took; empty cells where nobody knows."""
    return " |" if row.get("watts") is None else f"{row['watts']:.0f} | {row['nanojoules']:.2f}"


def energy_table(results: list[dict[str, Any]]) -> str:
    """D2Q37 in float64 as GPUs were measured, beside what is published, as Markdown; empty without such rows."""
    rows = [
        (f"{result['machine']['gpu']}, {c['size']} x {c['size']}", row)
        for result in results
        for row in result["measurements"]
        if ((c := row["configuration"])["stencil"], c["storage"]) == ("D2Q37", "float64")
    ]
    if not rows:
        return ""
    slowest = min(PUBLISHED.values())
    lines = [f"| GPU | GLUPS | beside the {next(iter(PUBLISHED))} | W | nJ |", "|---|---|---|---|---|"]
    lines += [f"| {gpu}, as published | {speed:.3f} | {speed / slowest:.1f} | | |" for gpu, speed in PUBLISHED.items()]
    for gpu, row in rows:
        speed = row["mlups"] / 1000
        lines.append(f"| {gpu} | {speed:.2f} | {speed / slowest:.1f} | {power(row)} |")
    return "\n".join(lines) + "\n"


def title(machine: dict[str, Any]) -> str:
    """What several devices are and belong to."""
    names = machine["devices"]
    gpus = len({name for name in names if name != "cpu"}) if machine["processes"] == 1 else len(names)
    parts = [f"{gpus} x {machine['gpu']}, CUDA {machine['cuda']}"] if "gpu" in machine else []
    if "processor" in machine:
        parts.append(f"{machine['processor']}, {machine['threads']} threads")
    if machine["processes"] > 1:
        parts.append(f"{machine['processes']} processes")
    return f"{', '.join(parts)}, Python {machine['python']}:"


def scaling_table(result: dict[str, Any]) -> str:
    """The speeds of several devices, as Markdown."""
    lines = [
        title(result["machine"]),
        "",
        "| configuration | cells | blocks | links | schedule | hidden | GLUPS | alone | efficiency |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["scaling"]:
        kind = "" if row["storage"] == "float32" else f", stored as {row['storage']}"
        flow = "" if row["flow"] == "periodic" else f", {row['flow']}"
        model = "ThermalBGK float64" if row["stencil"] == "D2Q37" else f"MRT float32{kind}"
        if row.get("state") == "moments":
            model = f"{row['collision']} {row['precision']}{' in-place' if row['streaming'] == 'in-place' else ''}"
        words = [
            f"{row['series']}: {row['stencil']} {model}{flow}",
            " x ".join(map(str, row["shape"])),
            " x ".join(map(str, row["parts"])),
            " + ".join(row["channels"]) or "none",
            "overlap" if row["overlaps"] else "blocking",
            "" if row["hidden_fraction"] is None else f"{100 * row['hidden_fraction']:.0f} %",
            f"{row['mlups'] / 1000:.2f}",
            number(row["alone_mlups"], "{:.2f}", 1e-3),
            number(row["efficiency"], "{:.3f}"),
        ]
        lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines) + "\n"


def published_tables(results: list[dict[str, Any]]) -> list[str]:
    """The published flows, a table for each file, and the exponents of strong scaling over all files of one kind."""
    tables = []
    speeds: dict[tuple[str, ...], dict[int, float]] = {}
    for result in results:
        machine = result["machine"]
        what = machine.get("gpu") or f"{machine['processor']}, CPU only"
        how = "one process" if machine["processes"] == 1 else "a process for each"
        lines = [
            title(machine),
            "",
            "| flow | cells | devices | links | hidden | GLUPS | alone | efficiency | model |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for row in result["scaling"]:
            kind = f"{row['series']}: {row['stencil']} {row['flow']}, {row['storage']}"
            cells = " x ".join(map(str, row["shape"]))
            words = [
                kind,
                cells,
                str(row["devices"]),
                " + ".join(row["channels"]) or "none",
                number(row["hidden_fraction"], "{:.0%}"),
                f"{row['mlups'] / 1000:.3g}",
                number(row["alone_mlups"], "{:.3g}", 1e-3),
                number(row["efficiency"], "{:.3f}"),
                number(row["predicted_efficiency"], "{:.3f}"),
            ]
            lines.append(f"| {' | '.join(words)} |")
            if row["series"] == "strong":
                speeds.setdefault((what, how, kind, cells), {})[row["devices"]] = row["mlups"]
        tables.append("\n".join(lines) + "\n")
    fitted = {key: found for key, found in speeds.items() if len(found) > 1}
    if fitted:
        lines = ["| machine | how | flow | cells | devices | exponent |", "|---|---|---|---|---|---|"]
        lines += [
            f"| {' | '.join(key)} | {', '.join(map(str, sorted(found)))} | {exponent(found):.3f} |"
            for key, found in fitted.items()
        ]
        tables.append("\n".join(lines) + "\n")
    return tables


def exponent(speeds: dict[int, float]) -> float:
    """The exponent p of speed ~ devices^p by least squares of the logarithms, as `lbmgpu bench` fits it."""
    x, y = [math.log(n) for n in speeds], [math.log(v) for v in speeds.values()]
    middle, height = sum(x) / len(x), sum(y) / len(y)
    across = sum((a - middle) * (b - height) for a, b in zip(x, y, strict=True))
    return across / sum((a - middle) ** 2 for a in x)


def number(value: float | None, form: str, unit: float = 1.0) -> str:
    """A number in a form, empty for None."""
    return "" if value is None else form.format(value * unit)


def cpu_share_table(result: dict[str, Any]) -> str:
    """The gain against the share of each GPU's cells that its CPU has, as Markdown."""
    asked = list(dict.fromkeys(row["cpu_share"] for row in result["scaling"] if row["cpu_share"] != 0))
    heads = [share if share == "auto" else f"{100 * share:g} %" for share in asked]
    lines = [
        title(result["machine"]),
        "",
        f"| numbers | cells a device | devices | GLUPS without | {' | '.join(heads)} |",
        "|---" * (4 + len(heads)) + "|",
    ]
    rows: dict[tuple[str, ...], dict[Any, dict[str, Any]]] = {}
    for row in result["scaling"]:
        cells = " x ".join(str(n // k) for n, k in zip(row["shape"], row["parts"], strict=True))
        rows.setdefault((row["storage"], cells, str(row["devices"])), {})[row["cpu_share"]] = row
    for key, found in rows.items():
        gains = []
        for share in asked:
            row = found.get(share)
            gain = "" if row is None else f"{100 * row['gain']:+.1f} %"
            gains.append(f"{gain} (of {100 * row['share']:.2f} %)" if row and share == "auto" else gain)
        without = number(found[0]["mlups"] if 0 in found else None, "{:.2f}", 1e-3)
        lines.append(f"| {' | '.join([*key, without, *gains])} |")
    return "\n".join(lines) + "\n"


def share_table(result: dict[str, Any]) -> str:
    """What a share for the CPU brings, as Markdown."""
    lines = [
        title(result["machine"]),
        "",
        "| cells | blocks | share of the CPU | GLUPS | without the CPU | gain |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["shares"]:
        blocks = " + ".join(f"{' x '.join(map(str, size))} on {device}" for size, device in row["layout"])
        words = [
            " x ".join(map(str, row["shape"])),
            f'{blocks} (`layout="auto"`)' if row["planned"] else blocks,
            f"{100 * row['share']:.2f} %",
            f"{row['mlups'] / 1000:.2f}",
            f"{row['alone_mlups'] / 1000:.2f}",
            f"{100 * row['gain']:+.1f} %",
        ]
        lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines) + "\n"


def setup_table(result: dict[str, Any]) -> str:
    """Seconds and memory of set-ups up to the largest that a device holds, of measure_setup.py, as Markdown."""
    lines = [
        f"{result['machine']['device']}, Python {result['machine']['python']}:",
        "",
        "| cells | stored as | device, GB | host, GB | `Solver`, s | `initialize`, s | first step, s | GLUPS |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in result["setups"]:
        seconds = " | ".join(f"{row['seconds'][part]:.2f}" for part in ("solver", "initialize", "first step"))
        memory = f"{row['device_bytes'] / 1e9:.1f} | {row['host_bytes'] / 1e9:.1f}"
        lines.append(
            f"| {row['side']} x {row['side']} x {row['side']} | {row['storage']} | {memory} | {seconds} "
            f"| {row['mlups'] / 1000:.2f} |"
        )
    return "\n".join(lines) + "\n"


def recorder_table(result: dict[str, Any]) -> str:
    """What recorders, and inlets that change in time, add to a step, of measure_recorders.py, as Markdown."""
    machine = result["machine"]
    what = f"{machine['gpu']}, CUDA {machine['cuda']}" if "gpu" in machine else machine["processor"]
    lines = [
        f"{what}, Python {machine['python']}, {' x '.join(map(str, result['shape']))} cells:",
        "",
        "| beside the steps | GLUPS | more time |",
        "|---|---|---|",
    ]
    for row in result["recorders"]:
        cost = f"{100 * row['cost']:+.1f} %" if row["cost"] else ""
        lines.append(f"| {row['measured']} | {row['mlups'] / 1000:.2f} | {cost} |")
    return "\n".join(lines) + "\n"


def given_table(result: dict[str, Any]) -> str:
    """A table whose cells a script has written itself, as Markdown."""
    machine = result["machine"]
    what = f"{machine['gpu']}, CUDA {machine['cuda']}" if "gpu" in machine else machine["processor"]
    return markdown(f"{what}, {result['what']}:", result["head"], result["rows"])


def markdown(what: str, head: list[str], rows: list[list[Any]]) -> str:
    """A table below a line that says what it is of."""
    lines = [head, ["---"] * len(head), *rows]
    return f"{what}\n\n" + "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def memory_table(result: dict[str, Any]) -> str:
    """Populations that only stream, in layouts of memory, as Markdown."""
    rows = []
    for row in result["propagation"]:
        cells = " x ".join(map(str, row["shape"]))
        speeds = [f"{row['mlups']:.1f}", *(f"{row[key] / 1e9:.1f}" for key in ("bandwidth", "memory_bandwidth"))]
        what = [row["device"], f"{row['stencil']} {row['storage']}", cells, row["layout"]]
        rows.append([*what, *speeds, f"{row['bandwidth_fraction']:.3f}"])
    head = ["device", "populations", "cells", "layout", "MLUPS", "GB/s", "memory", "fraction"]
    return markdown(title(result["machine"]), head, rows)


def halo_table(result: dict[str, Any]) -> str:
    """The exchange of two devices against the size of its messages, as Markdown: a line for each size and channel."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in result["halo"]:
        c = row["configuration"]
        key = (f"{c['stencil']} {c['storage']}", str(c["size"]), " + ".join(row["channels"]))
        groups.setdefault(key, []).append(row)
    rows = []
    for key, found in groups.items():
        times = ", ".join(f"{1e6 * row['seconds']:.1f}" for row in found)
        rates = ", ".join(f"{row['bandwidth'] / 1e9:.2f}" for row in found)
        rows.append([*key, f"{found[0]['bytes'] / 1024:.1f}", times, rates])
    head = ["cells", "face, cells a side", "links", "KiB", "us across x, y, z", "GB/s across x, y, z"]
    return markdown(title(result["machine"]), head, rows)


def tuning_table(result: dict[str, Any]) -> str:
    """The speeds of all launches of update kernels, a line for each number of cells a thread, as Markdown."""
    machine, launches = result["machine"], result["tuning"]
    threads = sorted({launch["threads"] for launch in launches})
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    for launch in launches:
        c = launch["configuration"]
        model = f", {c['turbulence']}/{c['every']}" if c["turbulence"] else ""
        key = (f"{name(c)}{model}: {launch['phase']}", str(launch["cells_per_thread"]), str(launch["blocks"]))
        speed = "spills" if launch["mlups"] is None else f"{launch['mlups'] / 1000:.2f}"
        groups.setdefault(key, {})[launch["threads"]] = f"**{speed}**" if launch["best"] else speed
    rows = [[*key, *(found.get(n, "") for n in threads)] for key, found in groups.items()]
    head = ["update", "cells a thread", "blocks", *(f"{n} threads" for n in threads)]
    return markdown(f"{machine['gpu']}, CUDA {machine['cuda']}, GLUPS:", head, rows)


def profile(lines: list[str]) -> str:
    """The kernels of a file of Nsight Compute, as Markdown; of equal launches the last one counts."""
    kernels: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        if row["Metric Name"] in METRICS and re.match(KERNELS, row["Kernel Name"]):
            kernels.setdefault(row["Kernel Name"], {})[row["Metric Name"]] = row["Metric Value"]
    table = [f"| kernel | {' | '.join(METRICS.values())} |", "|---" * (1 + len(METRICS)) + "|"]
    for kernel, values in kernels.items():
        numbers = {metric: float(value.replace(",", "")) for metric, value in values.items()}
        numbers["gpu__time_duration.sum"] /= 1000
        table.append(f"| {kernel_name(kernel)} | {' | '.join(f'{numbers[metric]:.0f}' for metric in METRICS)} |")
    return "\n".join(table) + "\n"


def kernel_name(kernel: str) -> str:
    """A kernel's C++ name in words."""
    function, arguments = re.sub(r"^void |\(.*$", "", kernel).split("<", 1)
    words = [word.strip("> ") for word in arguments.split(",")]
    if function == "apply_boundaries":
        return "boundary links of the channel"
    if function.startswith("update_moments"):
        is_plane = function == "update_moments_2d"  # without tiles along y
        stencil, collision, real, _, _, walls, _, _, cuts, _, _, _, _, rows, _, along_y = words + [""] * is_plane
        tiles = "at faces across x" if along_y == "1" else "at walls" if walls == "1" else ""
        tiles += " at distances" if cuts == "1" else ""
        shape = f"tiles of {rows} rows {tiles}".strip() if not is_plane else "strips"
        return f"{stencil} {collision} {NUMBERS[real]}, moments: {shape}"
    stencil, collision, _, stored, _, _, _, phase, _, end_sums, *_ = words
    numbers = "float32, stored as float16" if stored == "Half" else "float32"
    flow = ", channel" if end_sums == "1" else ""
    return f"{stencil} {collision} {numbers}{flow}: {list(PHASES.values())[int(phase)]}"


def name(c: dict[str, Any]) -> str:
    """A configuration in words."""
    kind = c["precision"] if c["storage"] == c["precision"] else f"{c['precision']}, stored as {c['storage']}"
    flow = "" if c.get("flow", "periodic") == "periodic" else f", {c['flow']}"
    members = f", {c['members']} members" if c.get("members", 1) > 1 else ""
    how = c["streaming"] if c.get("state", "populations") == "populations" else c["state"]
    how += " in-place" if how == "moments" and c["streaming"] == "in-place" else ""
    return f"{c['stencil']} {c['collision']} {kind}, {how}, size {c['size']}{flow}{members}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON of lbmgpu bench, or CSV of Nsight Compute")
    parser.add_argument("--print", action="store_true", help="print the tables, and leave the page as it is")
    arguments = parser.parse_args()
    tables: dict[str, list[str]] = {kind: [] for kind in KINDS}
    on_gpus: list[dict[str, Any]] = []
    published: list[dict[str, Any]] = []
    for file in arguments.files:
        if file.endswith(".csv"):
            text = Path(file).read_text()
            head = f"{Path(file).stem.capitalize()}:\n\n" if Path(file).stem in FLOWS else ""
            kind = "ncu-moments" if "update_moments" in text else "ncu"
            tables[kind].append(head + profile(text.splitlines()))
            continue
        result = json.loads(Path(file).read_text())
        if "tuning" in result:  # Its measurement with the fastest launch belongs to no table.
            tables["tuning"].append(tuning_table(result))
        elif "shares" in result:
            tables["shares"].append(share_table(result))
        elif result.get("menu") == "published":
            published.append(result)
        elif result.get("menu") == "shares" or any(row.get("cpu_share") for row in result.get("scaling", [])):
            tables["cpu-shares"].append(cpu_share_table(result))
        elif "table" in result:
            tables[result["table"]].append(given_table(result))
        elif "recorders" in result:
            tables["recorders"].append(recorder_table(result))
        elif "setups" in result:
            tables["setup"].append(setup_table(result))
        elif "propagation" in result:
            tables["memory"].append(memory_table(result))
        elif "halo" in result:
            tables["halo"].append(halo_table(result))
        elif result.get("menu") == "moments":
            tables["scaling-moments"].append(scaling_table(result))
        elif "scaling" in result:
            tables["scaling" if result["machine"]["processes"] == 1 else "scaling-mpi"].append(scaling_table(result))
        elif all(row["configuration"].get("state") == "moments" for row in result["measurements"]):
            tables["moments"].append(table(result))
        else:
            tables["gpu" if "gpu" in result["machine"] else "cpu"].append(table(result))
            on_gpus += [result] if "gpu" in result["machine"] else []
    if energy := energy_table(on_gpus):
        tables["energy"].append(energy)
    tables["published"] += published_tables(published)
    if arguments.print:
        print("\n".join(table for found in tables.values() for table in found), end="")
        return
    text = PAGE.read_text()
    for kind, found in tables.items():
        if found:  # what no file is about stays as it is
            body = "\n".join(found)
            text = MARKS[kind].sub(lambda marks, body=body: f"{marks[1]}\n{body}\n{marks[2]}", text)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
