"""Tests the user guide: its Python code runs, its links lead somewhere, and every public name is listed.

The example scripts that it mentions run too.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import lbmgpu as lbm

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


LONG = ["how_to/drag.md", "how_to/wind_tunnel.md", "studies.md"]
"""Pages whose examples take more than a few seconds."""
PAGES = {str(path.relative_to(DOCS)): path.read_text() for path in sorted(DOCS.rglob("*.md"))}


def with_python() -> list[Any]:
    """The pages with examples in Python."""
    names = [name for name, text in PAGES.items() if "\n```python\n" in text]
    return [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in names]


@pytest.mark.parametrize("page", with_python())
def test_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    assert snippets
    names: dict[str, object] = {}
    for snippet in snippets:  # later ones use what earlier ones made
        exec(compile(snippet, page, "exec"), names)


@pytest.mark.parametrize("script", sorted(DOCS.glob("*.py")), ids=lambda path: path.name)
def test_what_a_script_imports_is_there(script: Path) -> None:
    """Of lbmgpu: most scripts measure for minutes, on machines with GPUs, and run nowhere else."""
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "lbmgpu":
            module = importlib.import_module(str(node.module))
            for name in node.names:
                assert hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}"), name.name


def anchors(text: str) -> set[str]:
    """By which the headings of a page are linked to, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", PAGES[page]):
        target = (DOCS / page).parent.joinpath(link) if link else DOCS / page
        assert target.exists(), f"{page} links to {link}"
        assert not anchor or anchor in anchors(target.read_text()), f"{page} links to {link}#{anchor}"


def test_every_public_name_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (DOCS / "api.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(lbm.__all__)


def test_coefficients_from_a_table(tmp_path: Path) -> None:
    rows = [(20, 9.0, 9.0), (40, 0.5, -0.1), (60, 0.7, 0.3)]
    table = tmp_path / "forces.csv"
    table.write_text("step,post Fx,post Fy\n" + "".join(f"{step},{x},{y}\n" for step, x, y in rows))
    script = [sys.executable, str(ROOT / "examples" / "drag_coefficient.py"), str(table)]
    options = ["--velocity", "0.1", "--length", "20", "--last", "0.7"]
    done = subprocess.run([*script, *options], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "steps 40 to 60",
        "drag: mean 6.0000, from 5.0000 to 7.0000",
        "lift: mean 1.0000, from -1.0000 to 3.0000",
    ]


def test_the_cylinder_in_three_blocks_runs(tmp_path: Path) -> None:
    picture = tmp_path / "vortices.png"
    script = [sys.executable, str(ROOT / "examples" / "cylinder_d3q27.py")]
    rendering = tmp_path / "three_dimensions.png"
    options = ["--size", "4", "--steps", "30", "--output", str(picture), "--render", str(rendering)]
    done = subprocess.run([*script, *options], capture_output=True, text=True, check=True)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert rendering.read_bytes().startswith(b"\x89PNG")
    assert re.search(r"^blocks +\(28, 32, 12\) at \(0, 0, 0\) on .*; .* at \(28, 0, 0\).*; ", done.stdout, re.MULTILINE)
    drag = re.search(r"^drag coefficient (\S+), lift", done.stdout, re.MULTILINE)
    assert drag is not None
    assert 0 < float(drag[1]) < 20
