"""Runs the notebooks and stores them with their results: python docs/run_notebooks.py [NAME.ipynb ...]

Left out is what is dead in a file or differs from run to run: the widgets of progress bars and the times of cells.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
WIDGET = "application/vnd.jupyter.widget-view+json"


def run(path: Path) -> None:
    """Run the notebook at `path` in an empty folder, and store it again."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_dead(output)]
    nbformat.write(notebook, path)


def _is_dead(output: nbformat.NotebookNode) -> bool:
    return WIDGET in output.get("data", {}) or output.get("name") == "stderr"


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")):
        run(NOTEBOOKS / name)
        print(name, (NOTEBOOKS / name).stat().st_size // 1024, "KiB")
