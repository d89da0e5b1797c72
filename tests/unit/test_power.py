"""Tests the measurement of a GPU's power with a fake NVML: what is measured, and what is said where it cannot be."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu import _core, cli
from lbmgpu.benchmarks import power as energy, single as bench

UUID = "0123456789abcdef0123456789abcdef"
WRITTEN = "GPU-01234567-89ab-cdef-0123-456789abcdef"
WATTS = 250.0


class NVMLError(Exception):
    """As pynvml has it."""


class Nvml(ModuleType):
    """A GPU that draws 250 W; its counter moves every 20 ms."""

    NVMLError = NVMLError

    def __init__(self, *, counter: bool = True, power: bool = True, refused: str = "") -> None:
        super().__init__("pynvml")
        self.counter, self.power, self.refused = counter, power, refused
        self.asked: list[bytes] = []

    def nvmlInit(self) -> None:
        if self.refused:
            raise NVMLError(self.refused)

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes) -> str:
        self.asked.append(uuid)
        if uuid != WRITTEN.encode():
            raise NVMLError("Not Found")
        return "handle"

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: str) -> int:
        if not self.counter:
            raise NVMLError("Not Supported")
        return int(1000 * WATTS * 0.02 * (time.perf_counter() // 0.02))

    def nvmlDeviceGetPowerUsage(self, handle: str) -> int:
        if not self.power:
            raise NVMLError("Insufficient Permissions")
        return int(1000 * WATTS)


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPUs of a known UUID."""
    monkeypatch.setattr(energy.gpu, "identity", lambda device: UUID)


def play(monkeypatch: pytest.MonkeyPatch, **options: Any) -> Nvml:
    nvml = Nvml(**options)
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    return nvml


def test_a_counter_counts_between_its_changes() -> None:
    """Of looks at 0 to 6 s: the counter moves at 2, 3 and 5 s; what was before the first change is of before."""
    values = [(0.0, 10.0), (1.0, 10.0), (2.0, 50.0), (3.0, 80.0), (4.0, 80.0), (5.0, 140.0), (6.0, 140.0)]
    found = energy.drawn(values, counter=True)
    assert found == energy.Draw(140.0 - 50.0, 3.0)
    assert found.watts == pytest.approx(30)
    assert energy.drawn(values[:5], counter=True).watts is None  # two changes
    assert energy.drawn([], counter=True) == energy.Draw()


def test_samples_are_joined_by_lines() -> None:
    values = [(0.0, 100.0), (1.0, 200.0), (3.0, 200.0)]
    found = energy.drawn(values, counter=False)
    assert found == energy.Draw(150.0 + 400.0, 3.0)
    assert found.watts == pytest.approx(550 / 3)
    assert energy.drawn(values[:2], counter=False).watts is None


def test_nanojoules_are_joules_of_a_thousand_million_updates() -> None:
    assert energy.nanojoules(watts=700, mlups=7000) == pytest.approx(100)  # 7e9 updates a second for 700 J
    assert energy.nanojoules(watts=700, mlups=7000) == pytest.approx(700 / 7000e6 * 1e9)


@pytest.mark.usefixtures("identity")
@pytest.mark.parametrize(("counter", "kind"), [(True, "energy counter"), (False, "power samples")])
def test_the_gpu_is_found_by_its_uuid(counter: bool, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = play(monkeypatch, counter=counter)
    meter = energy.meter_of("cuda:3")
    assert nvml.asked == [WRITTEN.encode()]
    assert meter.kind == kind
    for _ in range(2):
        with meter.measuring():
            time.sleep(0.25)
    assert 0.2 < meter.total.seconds < 0.6
    assert meter.total.watts == pytest.approx(WATTS, rel=0.15)


@pytest.mark.usefixtures("identity")
def test_a_sensor_that_fails_costs_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = play(monkeypatch)
    meter = energy.meter_of("cuda:0")
    nvml.counter = False
    with meter.measuring():
        time.sleep(0.02)
    assert meter.total.watts is None
    with pytest.raises(ZeroDivisionError), meter.measuring():
        raise ZeroDivisionError


@pytest.mark.usefixtures("identity")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (None, "^nvidia-ml-py is missing: pip install nvidia-ml-py$"),
        ({"refused": "NVML Shared Library Not Found"}, "^NVML: NVML Shared Library Not Found$"),
        ({"counter": False, "power": False}, "^NVML: Insufficient Permissions$"),
    ],
)
def test_why_it_cannot_be_measured(options: dict[str, Any] | None, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if options is None:
        monkeypatch.setitem(sys.modules, "pynvml", None)
    else:
        play(monkeypatch, **options)
    with pytest.raises(energy.PowerUnknownError, match=words):
        energy.meter_of("cuda:0")
    assert bench.find_meter("cuda:0")[0] is None
    line = bench.find_meter("cuda:0")[1]
    assert line is not None
    assert re.search(words.strip("^"), line.removeprefix("not measured; "))


def test_the_power_of_a_cpu_is_refused_by_name() -> None:
    with pytest.raises(energy.PowerUnknownError, match=r"^device: 'cpu' given, must be a GPU such as 'cuda:0'$"):
        energy.meter_of("cpu")


def test_a_gpu_that_does_not_say_who_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(device: str) -> str:
        raise lbm.CudaError(f"cuDeviceGetUuid of {device}: error 1")

    play(monkeypatch)
    monkeypatch.setattr(energy.gpu, "identity", unknown)
    assert bench.find_meter("cuda:0") == (None, "not measured; NVML: cuDeviceGetUuid of cuda:0: error 1")
    monkeypatch.setattr(energy.gpu, "identity", lambda device: UUID[::-1])  # another GPU, or a part of one
    assert bench.find_meter("cuda:0") == (None, "not measured; NVML: Not Found")
    assert bench.find_meter("cpu") == (None, None)


QUICK = ["--stencil", "D2Q9", "--size", "16", "--threads", "1", "--repeats", "2"]


@pytest.fixture
def played_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU, as if it had a meter."""
    monkeypatch.setattr(_core, "inplace_stream_scale", lambda size, threads, repeats: 1e10)


@pytest.mark.usefixtures("played_bench", "identity")
def test_the_table_and_the_file_have_power_and_energy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(monkeypatch)
    meter = energy.meter_of("cuda:0")
    monkeypatch.setattr(bench, "find_meter", lambda device: (meter, "by a toy"))
    file = tmp_path / "bench.json"
    assert cli.main(["bench", *QUICK, "--seconds", "0.2", "--json", str(file)]) == cli.OK
    lines = capsys.readouterr().out.splitlines()
    assert "power: by a toy" in lines
    assert bench.HEADER + bench.ENERGY_HEADER in lines
    data = json.loads(file.read_text())
    assert data["machine"]["power"] == "by a toy"
    (row,) = data["measurements"]
    assert row["watts"] == pytest.approx(WATTS, rel=0.2)
    assert row["nanojoules"] == pytest.approx(1000 * row["watts"] / row["mlups"])
    assert lines[-1].split()[-2:] == [f"{row['watts']:.1f}", f"{row['nanojoules']:.2f}"]


@pytest.mark.usefixtures("played_bench")
def test_without_a_meter_the_columns_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one line that says why; of a CPU not even that."""
    file = tmp_path / "bench.json"
    for line in ("not measured; because", None):
        monkeypatch.setattr(bench, "find_meter", lambda device, line=line: (None, line))
        assert cli.main(["bench", *QUICK, "--seconds", "0.001", "--json", str(file)]) == cli.OK
        lines = capsys.readouterr().out.splitlines()
        assert bench.HEADER in lines
        assert sum(text.startswith("power: ") for text in lines) == (line is not None)
        data = json.loads(file.read_text())
        assert data["machine"].get("power") == line
        assert data["measurements"][0]["watts"] is data["measurements"][0]["nanojoules"] is None


@pytest.mark.gpu
def test_a_real_gpu_draws_power(gpu: str) -> None:
    """Between idle and what a card can draw, if it can be asked."""
    meter, line = bench.find_meter(gpu)
    if meter is None and os.environ.get("LBMGPU_REQUIRE_GPU") != "1":
        pytest.skip(f"needs a GPU that tells its power: {line}")
    assert meter is not None, line
    row = bench.measure(bench.Configuration(size=256), device=gpu, threads=None, seconds=1.0, repeats=2, meter=meter)
    assert row.watts is not None
    assert 20 < row.watts < 2000
    assert row.nanojoules == pytest.approx(1000 * row.watts / row.mlups)
