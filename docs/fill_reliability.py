"""Puts what `.ci/attack --long --json` wrote into reliability.md.

python docs/fill_reliability.py FILE ...

Of several files each becomes a table, in their order.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "reliability.md"
MARK = re.compile(r"(<!-- attacks:begin -->\n).*?(<!-- attacks:end -->)", re.DOTALL)


def table(result: dict[str, Any]) -> str:
    """The outcomes on one machine, as Markdown."""
    machine = result["machine"]
    where = f"{machine['gpu']}, CUDA {machine['cuda']}" if "gpu" in machine else machine["processor"]
    lines = [
        f"{where}, Python {machine['python']}, seed {result['seed']}:",
        "",
        "| attack | how many | how they ended | seconds |",
        "|---|---|---|---|",
    ]
    for row in sorted(result["attacks"], key=lambda row: row["attack"]):
        ended = "; ".join(f"{how}: {count}" for how, count in sorted(row["ended"].items()))
        lines.append(f"| {row['attack']} | {sum(row['ended'].values())} | {ended} | {row['seconds']:.0f} |")
    lines += [f"| {text.splitlines()[0]} | **did harm** | | |" for text in result["harm"]]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fill the page from the files of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    tables = [table(json.loads(path.read_text(encoding="utf-8"))) for path in parser.parse_args().files]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARK.sub(lambda found: found[1] + "\n".join(tables) + found[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
