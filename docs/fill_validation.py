"""Puts what examples/heated_cavity.py, examples/turbulent_channel.py and docs/measure_curved_walls.py measured into
validation.md.

python docs/fill_validation.py FILE ...

Each FILE is what `--json` of one of them wrote, those of all cavities, or of all channels, together. Of two rows for
one case, grid, collision, arithmetic and kind of device the later one counts.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "validation.md"
KINDS = ("cavity", "channel", "curved")
MARKS = {kind: re.compile(rf"(<!-- {kind}:begin -->\n).*?(<!-- {kind}:end -->)", re.DOTALL) for kind in KINDS}
HEAD = """\
| | Ra | grid | collision | Nu | off | mid-plane | u_max | off | v_max | off | steps on it | on |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def off(measured: float, exact: float | None) -> str:
    return "" if exact is None else f"{round(100 * (measured / exact - 1), 2) + 0.0:+.2f} %"


def hardware(numbers: dict[str, Any]) -> str:
    """The CPU, or the kinds of GPU and how many."""
    gpus = re.findall(r"cuda:\d+, ([^;,]+)", numbers["device"])
    return " and ".join(f"{gpus.count(name)} {name}" for name in sorted(set(gpus))) or "CPU"


def row(numbers: dict[str, Any]) -> str:
    """One run as a row of the table; what no spectral computation gave is compared with the published number."""
    dimensions, cells = numbers["dimensions"], numbers["cells"]
    exact = numbers.get("spectral") or [numbers.get("published", [None, None])[1], None, None]
    steady = "" if numbers["steady"] else ", not steady"
    mid = f"{numbers['mid_plane']:.3f}" if "mid_plane" in numbers else ""
    values = [f"{numbers['hot']:.4f}", off(numbers["hot"], exact[0]), mid]
    for name, reference in (("u_max", exact[1]), ("v_max", exact[2])):
        values += [f"{numbers[name]:.2f}", off(numbers[name], reference)]
    kind = f"{hardware(numbers)}, {numbers['precision']}"
    size = f"{cells}{'²' if dimensions == 2 else '³'}"
    power = f"1e{math.log10(numbers['rayleigh']):.0f}"
    ra = power if float(power) == numbers["rayleigh"] else f"{numbers['rayleigh']:g}"
    shape = "square" if dimensions == 2 else "cube"
    scheme = numbers["collision"].upper() + ("" if numbers["operators"] == "isotropic" else ", operators of 2013")
    scheme += ", coupled" if numbers.get("energy_coupling") else ""
    steps = f"{numbers['grids'][-1]['steps']}{steady}"
    return "| " + " | ".join([shape, ra, size, scheme, *values, steps, kind]) + " |\n"


def key(numbers: dict[str, Any]) -> tuple[Any, ...]:
    """By which rows are put in order, and are the same."""
    names = ("dimensions", "rayleigh", "cells", "collision", "precision", "operators")
    return (*(numbers[name] for name in names), numbers.get("energy_coupling", 0.0), hardware(numbers))


COLLISIONS = {"cumulant": "Cumulant, D3Q27", "rr-wale": "RecursiveRegularized and WALE, D3Q19"}


def channel_table(channels: list[dict[str, Any]]) -> str:
    """A row for each turbulent channel; statistical errors are 95 % intervals, of the middle as an example."""
    lines = [
        "| collision | h | U+ off by at most | at y+ | in the middle | bulk velocity | force on the walls | GLUPS |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for c in channels:
        middle, error = c["profiles"]["u_plus"][-1], c["profiles"]["u_plus_half_width"][-1]
        spread = "" if error is None else f" ± {error:.2f}"
        values = [COLLISIONS[c["collision"]], c["height"], f"{100 * c['deviation']:+.1f} %", f"{c['deviation_at']:.0f}"]
        values += [f"{middle:.2f}{spread}", f"{c['bulk_velocity_plus']:.2f}", f"{c['wall_force']:.3f}"]
        lines.append("| " + " | ".join(map(str, [*values, f"{c['mlups'] / 1000:.1f}"])) + " |")
    return "\n".join(lines) + "\n"


def curved_table(rows: list[dict[str, Any]]) -> str:
    """A row for each figure of a flow along curved walls."""
    lines = ["| case | cells across | of | measured | exact | off | range over places |", "|---" * 7 + "|"]
    for r in rows:
        spread = f"{100 * r['spread']:.2f} %" if "spread" in r else ""
        values = [r["case"], f"{r['cells']:g}", r["of"], f"{r['found']:.6g}", f"{r['exact']:.6g}"]
        lines.append("| " + " | ".join([*values, off(r["found"], r["exact"]), spread]) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="what --json of the examples wrote")
    rows: dict[tuple[Any, ...], str] = {}
    channels: list[dict[str, Any]] = []
    curved: list[dict[str, Any]] = []
    for file in parser.parse_args().files:
        found = json.loads(file.read_text())
        if isinstance(found, dict) and found.get("kind") == "curved":
            curved = found["rows"]
        elif isinstance(found, dict):
            channels.append(found)
        else:
            rows.update({key(numbers): row(numbers) for numbers in found})
    tables = {
        "cavity": HEAD + "".join(rows[k] for k in sorted(rows)) if rows else "",
        "channel": channel_table(channels) if channels else "",
        "curved": curved_table(curved) if curved else "",
    }
    text = PAGE.read_text()
    for kind, table in tables.items():
        if table:  # what no file is about stays as it is
            text = MARKS[kind].sub(lambda marks, table=table: f"{marks[1]}\n{table}\n{marks[2]}", text)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
