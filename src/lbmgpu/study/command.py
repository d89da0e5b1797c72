"""What ``lbmgpu study`` does: the study of a JSON case, its table, and its dataset in two files."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from ..errors import MissingResultsWarning
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
    rerun: bool = False,
) -> bool:
    """Run the study of the case at `path`, print its table and write its dataset; whether all cases have a result.

    Args:
        path: of the case with lists.
        output: folder of the study; None for the case's own.
        devices, per_device, retry, progress: as for `Study.run`.
        combine: as for `Study`.
        only_status: print the table as it is now, run nothing and write nothing.
        rerun: run cases again whose results are of the case as it was before a change.

    Raises:
        As `study_of` and `Study.run`.
    """
    study = study_of(path, output, combine=combine, on_change="rerun" if rerun else "keep", only_seen=only_status)
    if only_status:
        study.status()
        if not (study.folder / records.STUDY).is_file():
            print(f"no study in {study.folder} yet")
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingResultsWarning)  # the table that is printed below says more
        found = study.run(devices, per_device=per_device, retry=retry, progress=progress)
    results.write(study.folder / DATASET, found)
    write_text(study.folder / TABLE, results.flat_table(found).to_csv(index=False))
    study.status()
    print(f"wrote {study.folder / DATASET} and {study.folder / TABLE}")
    return bool((found["status"] == records.DONE).all())
