"""What ``lbmgpu study`` does: the study of a JSON case, its table, and its dataset in two files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..files.atomic_write import write_text
from . import records, results
from .json_case import study_of

DATASET, TABLE = "study.nc", "study.csv"


def run(
    path: Path,
    output: str | None,
    *,
    devices: str | Sequence[str],
    per_device: int | None,
    combine: str,
    retry: int,
    progress: bool,
    only_status: bool,
) -> bool:
    """Run the study of the case at `path`, print its table and write its dataset; whether all cases have a result.

    Args:
        path: of the case with lists.
        output: folder of the study; None for the case's own.
        devices, per_device, retry, progress: as for `Study.run`.
        combine: as for `Study`.
        only_status: print the table as it is now, and run nothing.

    Raises:
        As `study_of` and `Study.run`.
    """
    study = study_of(path, output, combine=combine)
    if only_status:
        study.status()
        return True
    found = study.run(devices, per_device=per_device, retry=retry, progress=progress)
    results.write(study.folder / DATASET, found)
    write_text(study.folder / TABLE, results.flat_table(found).to_csv(index=False))
    study.status()
    print(f"wrote {study.folder / DATASET} and {study.folder / TABLE}")
    return bool((found["status"] == records.DONE).all())
