"""Speed of the heated cavity's updates by the threads of a block and the size of the cavity, as a picture:

python docs/measure_block_sizes.py cuda:0 docs/measured/block_sizes.json
python docs/measure_block_sizes.py docs/measured/block_sizes.json docs/images/block_sizes.png

The first measures, the second draws what was measured. Of cavities above 256 cells a side as many layers are updated as
have 2^24 cells, since more take no longer each. As `lbmgpu bench --tune` does, it remembers the fastest launch
of each size on this machine.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

SIDES = (32, 64, 96, 128, 192, 256, 384, 512)
PANELS = {"two-lattice": "two lattices", "even": "in place, even steps", "odd": "in place, odd steps"}
"""What each phase of the streaming is called."""
SECONDS = 0.05
"""Of each launch."""


def measure(device: str) -> dict[str, Any]:
    """All launches of all sizes."""
    from lbmgpu.benchmarks import tuning
    from lbmgpu.benchmarks.single import machine
    from lbmgpu.planning.configuration import Configuration

    launches = []
    for streaming in ("two-lattice", "in-place"):
        for side in SIDES:
            heated = Configuration(collision="MRT", streaming=streaming, size=side, flow="heated")
            for found in tuning.tune(heated, device=device, seconds=SECONDS):
                figures = {
                    name: getattr(found, name) for name in ("phase", "cells_per_thread", "threads", "blocks", "mlups")
                }
                launches.append({"side": side} | figures)
            print(f"{streaming}, {side}", flush=True)
    return {"machine": machine(None, device), "launches": launches}


def fastest(launches: list[dict[str, Any]]) -> dict[int, list[tuple[int, float]]]:
    """By the threads of a block, for each side the greatest speed of them, in GLUPS."""
    speeds: dict[tuple[int, int], float] = {}
    for launch in launches:
        if launch["mlups"] is not None:
            key = launch["threads"], launch["side"]
            speeds[key] = max(speeds.get(key, 0.0), launch["mlups"] / 1000)
    by_threads: dict[int, list[tuple[int, float]]] = {}
    for (threads, side), speed in sorted(speeds.items()):
        by_threads.setdefault(threads, []).append((side, speed))
    return by_threads


def draw(result: dict[str, Any], path: str) -> None:
    """A panel for each phase, in it a line for each number of threads."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    all_axes = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (phase, title) in zip(all_axes, PANELS.items(), strict=True):
        chosen = [launch for launch in result["launches"] if launch["phase"] == phase]
        for threads, points in fastest(chosen).items():
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=f"{threads} threads")
        axes.set(title=title, xlabel="cells a side", xlim=(0, None), ylim=(0, None))
        axes.grid(alpha=0.3)
    all_axes[0].set(ylabel="GLUPS")
    all_axes[-1].legend(title="a block")
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


if __name__ == "__main__":
    source, target = sys.argv[1:]
    if source.endswith(".json"):
        draw(json.loads(Path(source).read_text()), target)
    else:
        Path(target).write_text(json.dumps(measure(source), separators=(",", ":")) + "\n")
