"""Puts the files that `lbmgpu bench --json` wrote into performance.md: python docs/fill_performance.py FILE ..."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "performance.md"
MARKS = re.compile(r"(<!-- bench:begin -->\n).*?(<!-- bench:end -->)", re.DOTALL)


def table(result: dict[str, Any]) -> str:
    """One machine's measurements, as Markdown."""
    machine = result["machine"]
    gpu = "gpu" in machine
    if gpu:
        title = f"{machine['gpu']}, CUDA {machine['cuda']}, NVRTC {machine['nvrtc']}, Python {machine['python']}:"
    else:
        title = f"{machine['processor']}, {machine['threads']} threads, {machine['isa']}, Python {machine['python']}:"
    lines = [
        title,
        "",
        f"| configuration | MLUPS | B | GB/s | {'copy' if gpu else 'update'} | share |",
        "|---|---|---|---|---|---|",
    ]
    for row in result["measurements"]:
        c = row["configuration"]
        kind = c["precision"] if c["storage"] == c["precision"] else f"{c['precision']}, stored as {c['storage']}"
        speeds = f"{row['bandwidth'] / 1e9:.1f} | {row['update_bandwidth'] / 1e9:.1f} | {row['share']:.2f}"
        flow = "" if c.get("flow", "periodic") == "periodic" else f", {c['flow']}"
        lines.append(
            f"| {c['stencil']} {c['collision']} {kind}, {c['streaming']}, size {c['size']}{flow} | {row['mlups']:.1f} "
            f"| {row['bytes_per_update']} | {speeds} |"
        )
    return "\n".join(lines) + "\n"


def main(files: list[str]) -> None:
    tables = "\n".join(table(json.loads(Path(file).read_text())) for file in files)
    PAGE.write_text(MARKS.sub(lambda marks: f"{marks[1]}\n{tables}\n{marks[2]}", PAGE.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
