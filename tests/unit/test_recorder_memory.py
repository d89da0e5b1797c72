"""Recorders that do not fit the memory are refused by name, with the bytes, before anything is allocated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine import memory
from lbmgpu.output.cell_samples import EngineSamples
from lbmgpu.parallel.device_memory import MIB
from lbmgpu.solver import simulation_of

SHAPE = (64, 64, 32)
CELLS = 64 * 64 * 32  # 1 MiB of float64 numbers


def solver(**options: Any) -> lbm.Solver:
    return lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), device="cpu", threads=1, **options)


def have(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": size)


def refused(monkeypatch: pytest.MonkeyPatch, flow: lbm.Solver, recorder: lbm.Recorder, needed: int) -> str:
    """The message with a byte too few, after which nothing is recorded; with as many as needed it is recorded."""
    have(monkeypatch, needed - 1)
    with pytest.raises(lbm.TooLittleMemoryError, match=f"recorder '{recorder.name}': needs ") as caught:
        flow.record(recorder)
    assert recorder not in flow.recorders
    have(monkeypatch, needed)
    flow.record(recorder)
    return str(caught.value)


def test_the_message_has_the_bytes_and_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    text = refused(monkeypatch, solver(), lbm.Mean("velocity"), 3 * MIB)
    assert text == (
        "recorder 'mean': needs 3.00 MiB of memory on cpu, but 3.00 MiB is available; fewer fields need less"
    )


@pytest.mark.parametrize(
    ("recorder", "slots"),
    [
        (lbm.Mean("velocity", "density"), 4),
        (lbm.Covariance("velocity"), 9),
        (lbm.Minimum("density"), 1),
        (lbm.Maximum("velocity"), 3),
        (lbm.Mean("velocity", over="xz"), 3),
    ],
)
def test_statistics_need_eight_bytes_a_cell_and_slot(
    recorder: Any, slots: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow = solver()
    refused(monkeypatch, flow, recorder, slots * MIB)
    (samples,) = EngineSamples._of[simulation_of(flow)]
    assert samples.core.bytes == slots * MIB


def test_nothing_is_allocated_before(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = solver()
    monkeypatch.setattr(EngineSamples, "joined", lambda *_: pytest.fail("it was allocated"))
    have(monkeypatch, 9 * MIB - 1)
    with pytest.raises(lbm.TooLittleMemoryError):
        flow.record(lbm.Covariance("velocity"))


def test_means_that_are_there_are_not_needed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = solver()
    flow.record(lbm.Mean("velocity"))
    refused(monkeypatch, flow, lbm.Covariance("velocity"), 6 * MIB)
    have(monkeypatch, 9 * MIB - 1)
    with pytest.raises(lbm.TooLittleMemoryError, match=r"needs 9\.00 MiB"):  # of another schedule
        flow.record(lbm.Covariance("velocity", every=2, name="other"))


def test_batches_of_cells_and_fields_of_numpy_are_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = solver(), solver()
    refused(monkeypatch, first, lbm.Mean("density", batches=4), (1 + 2 * 4) * MIB)
    # means, fluctuations before and after and the field of the vorticity
    refused(monkeypatch, second, lbm.Mean("vorticity"), (3 + 3 * 3) * MIB)


def test_what_arrays_of_numpy_take_is_not_more_than_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    flow = solver()
    cov: Any = flow.record(lbm.Covariance("vorticity"))
    flow.step(2)
    assert sum(array.nbytes for array in cov._arrays.arrays.values()) == (3 + 9) * MIB
    asked = cov._arrays.numbers({"vorticity": 3})
    assert 12 < asked <= 2 * 12 + 9


def test_series_need_their_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = solver(), solver()
    frame = 4 * CELLS * 4  # of velocity and density
    needed = 2 * frame + 2 * 3 * 4 * CELLS
    refused(monkeypatch, first, lbm.Series(tmp_path / "flow", ["velocity", "density"], name="flow"), needed)
    assert (tmp_path / "flow").is_dir()
    part = lbm.Series(tmp_path / "part", ["density"], region=np.s_[:, :, 3], name="part")
    refused(monkeypatch, second, part, (2 + 2) * 4 * 64 * 64)


def test_points_need_their_interpolation_and_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = solver(), solver()
    plane = lbm.PlaneProbe("z", 16.0, fields="velocity")
    points = 64 * 64
    refused(monkeypatch, first, plane, 128 * 8 * points + 2 * 8 * 2**19)
    flux: Any = lbm.Flux("z", 16.0)
    have(monkeypatch, MIB)
    with pytest.raises(lbm.TooLittleMemoryError, match="recorder 'flux_z_16'"):
        second.record(flux)


@pytest.mark.gpu
def test_a_gpu_needs_its_slots_alone(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), device=gpu)
    monkeypatch.setattr(memory, "available_memory", lambda device: 9 * MIB - 1 if device == gpu else 0)
    with pytest.raises(lbm.TooLittleMemoryError, match=rf"needs 9\.00 MiB of memory on {gpu}"):
        flow.record(lbm.Covariance("velocity"))
    monkeypatch.setattr(memory, "available_memory", lambda device: 9 * MIB if device == gpu else 0)
    flow.record(lbm.Covariance("velocity"))
    (samples,) = EngineSamples._of[simulation_of(flow)]
    assert samples.core.bytes >= 9 * MIB
