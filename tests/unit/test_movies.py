"""Tests `Image`, `Movie` and `Live`: which frames there are, what is in them, restarts, faults, and notebooks."""

from __future__ import annotations

import builtins
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from packages import need
from PIL import Image as Pillow

import lbmgpu as lbm
from lbmgpu.pictures import recorders

from .support import cavity


def solver_of(shape: tuple[int, ...] = (12, 10)) -> lbm.Solver:
    return lbm.Solver(cavity(shape, "D2Q9" if len(shape) == 2 else "D3Q19"), lbm.BGK(0.1), device="cpu")


def pixels(path: Path) -> np.ndarray[Any, Any]:
    with Pillow.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def frames_of_mp4(path: Path) -> list[np.ndarray[Any, Any]]:
    import imageio_ffmpeg

    reader = imageio_ffmpeg.read_frames(str(path))
    width, height = next(reader)["size"]
    return [np.frombuffer(frame, np.uint8).reshape(height, width, 3).astype(int) for frame in reader]


def frames_of_gif(path: Path) -> tuple[list[np.ndarray[Any, Any]], int]:
    with Pillow.open(path) as picture:
        frames = []
        for number in range(picture.n_frames):
            picture.seek(number)
            frames.append(np.asarray(picture.convert("RGB")).astype(int))
        return frames, picture.info["duration"]


def test_images_are_numbered_by_step_and_show_what_plot_shows(tmp_path: Path) -> None:
    solver = solver_of()
    solver.record(lbm.Image(tmp_path / "speed_{step:04d}.png", every=4, vmin=0, vmax=0.05))
    solver.run(9)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"speed_{step:04d}.png" for step in (0, 4, 8)]
    other = solver_of()
    other.step(8)
    figure = other.plot(vmin=0, vmax=0.05)
    (tmp_path / "expected.png").write_bytes(figure._repr_png_())
    np.testing.assert_array_equal(pixels(tmp_path / "speed_0008.png"), pixels(tmp_path / "expected.png"))


class Counted(lbm.Recorder):
    """Counts the samples of each step."""

    samples_initial = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seen: list[int] = []

    def sample(self, solver: lbm.Solver) -> None:
        self.seen.append(solver.steps)


def test_the_initial_state_is_drawn_once_and_as_it_was_set(tmp_path: Path) -> None:
    solver = solver_of()
    counted, late = Counted(every=4), Counted(every=4, start=2, name="late")
    solver.record(lbm.Image(tmp_path / "speed_{step}.png", every=4, vmin=0, vmax=0.05), counted, late)
    assert list(tmp_path.iterdir()) == []  # as initialize and restore may still set another state
    solver.initialize(velocity=(0.03, 0.01))
    expected = solver.plot(vmin=0, vmax=0.05)
    (tmp_path / "expected.png").write_bytes(expected._repr_png_())
    solver.step(4)
    np.testing.assert_array_equal(pixels(tmp_path / "speed_0.png"), pixels(tmp_path / "expected.png"))
    solver.run(0)
    solver.run(4)
    assert (counted.seen, late.seen) == ([0, 4, 8], [2, 6])
    solver.initialize()
    solver.run(4)
    assert counted.seen == [0, 4, 8, 0, 4]


def test_a_restart_samples_its_step_once_and_a_state_between_not_at_all(tmp_path: Path) -> None:
    solver = solver_of()
    solver.record(Counted(every=4))
    solver.step(8)
    solver.save(tmp_path / "due.h5")
    solver.step(2)
    solver.save(tmp_path / "between.h5")
    for name, seen in (("due.h5", [8, 12]), ("between.h5", [12])):
        again = lbm.Solver.load(tmp_path / name, device="cpu")
        counted: Any = again.record(Counted(every=4))
        again.run(4)
        again.step(1)
        assert counted.seen == seen
        again.restore(tmp_path / name)
        again.step(4)
        assert counted.seen == 2 * seen


def test_movies_begin_with_the_state_that_a_restart_sets(tmp_path: Path) -> None:
    """Recorded before `restore`, they do not take the state at rest of a new solver for the beginning."""
    first = solver_of()
    first.record(lbm.Movie(tmp_path / "cut.gif", every=5, dpi=30))
    first.run(10)
    first.save(tmp_path / "checkpoint.h5")
    before = (tmp_path / "cut.gif.frames" / "frame_000000000010.png").read_bytes()
    second = solver_of()
    movie: Any = second.record(lbm.Movie(tmp_path / "cut.gif", every=5, dpi=30))
    second.restore(tmp_path / "checkpoint.h5")
    second.run(5)
    assert movie.steps == [0, 5, 10, 15]
    assert (movie.frames / "frame_000000000010.png").read_bytes() == before


def test_members_of_an_ensemble_are_drawn_from_the_beginning() -> None:
    ensemble = lbm.Ensemble(lbm.Domain((10, 8), "D2Q9"), [lbm.BGK(0.1)] * 2, device="cpu")
    found = [member.record(Counted(every=3)) for member in ensemble]
    ensemble.run(6)
    assert [recorder.seen for recorder in found] == [[0, 3, 6]] * 2  # type: ignore[union-attr]


def test_an_image_without_a_step_is_the_last_one(tmp_path: Path) -> None:
    solver = solver_of()
    image = solver.record(lbm.Image(tmp_path / "now.svg", every=3, field="density"))
    solver.step(7)
    assert "step 6" in (tmp_path / "now.svg").read_text() or (tmp_path / "now.svg").stat().st_size > 1000
    assert image.name == "now.svg"
    assert [path.name for path in tmp_path.iterdir()] == ["now.svg"]


def test_frames_of_an_mp4_are_those_that_were_drawn(tmp_path: Path) -> None:
    solver = solver_of()
    movie = solver.record(lbm.Movie(tmp_path / "cavity.mp4", every=5, fps=10, dpi=40))
    assert isinstance(movie, lbm.Movie)
    solver.run(20)
    frames = frames_of_mp4(movie.path)
    assert len(frames) == 5
    assert movie.steps == [0, 5, 10, 15, 20]
    for step, frame in zip(movie.steps, frames, strict=True):
        drawn = pixels(movie.frames / f"frame_{step:012d}.png")
        assert frame.shape == drawn.shape
        assert np.abs(frame - drawn).mean() < 4  # the compression's


def test_frames_of_a_gif_are_those_that_were_drawn(tmp_path: Path) -> None:
    solver = solver_of()
    movie = solver.record(lbm.Movie(tmp_path / "cavity.gif", every=10, fps=5, dpi=40))
    solver.run(30)
    frames, duration = frames_of_gif(tmp_path / "cavity.gif")
    assert (len(frames), duration) == (4, 200)
    for step, frame in zip(movie.steps, frames, strict=True):
        assert np.abs(frame - pixels(movie.frames / f"frame_{step:012d}.png")).mean() < 4


def test_colours_mean_the_same_in_all_frames(tmp_path: Path) -> None:
    """A state at rest, which is of one value, does not set their ends; the first that moves does."""
    solver = lbm.Solver(lbm.Domain((12, 10), "D2Q9"), lbm.BGK(0.1), device="cpu")
    movie = solver.record(lbm.Movie(tmp_path / "flow.gif", every=1, dpi=30))
    solver.step(1)
    limits = movie.frames / "limits.json"
    assert not limits.exists()
    solver.force = lambda x, y: (1e-4 * np.sin(2 * np.pi * y / 10), 0 * y)
    solver.step(1)
    first = json.loads(limits.read_text())
    assert first["vmax"] == pytest.approx(solver.speed().max(), rel=1e-6)
    solver.step(3)
    assert json.loads(limits.read_text()) == first
    fixed = lbm.Movie(tmp_path / "fixed.gif", every=1, dpi=30, vmin=0.0, vmax=0.2)
    solver.record(fixed)
    solver.step(1)
    assert json.loads((fixed.frames / "limits.json").read_text())["vmax"] != 0


@pytest.mark.slow
def test_a_restart_goes_on_with_the_frames_up_to_the_checkpoint(tmp_path: Path) -> None:
    whole = solver_of()
    whole.record(lbm.Movie(tmp_path / "whole.gif", every=5, dpi=30))
    whole.run(40)

    first = solver_of()
    first.record(lbm.Movie(tmp_path / "cut.gif", every=5, dpi=30))
    first.run(20)
    first.save(tmp_path / "checkpoint.h5")
    first.run(12)  # frames 25 and 30, which the checkpoint does not know of
    second = lbm.Solver.load(tmp_path / "checkpoint.h5", device="cpu")
    movie = second.record(lbm.Movie(tmp_path / "cut.gif", every=5, dpi=30))
    assert movie.steps == [0, 5, 10, 15, 20, 25, 30]  # until the first new one is drawn
    second.run(1)
    assert movie.steps == [0, 5, 10, 15, 20]
    second.run(5)
    assert movie.steps == [0, 5, 10, 15, 20, 25]
    second.run(14)
    assert (tmp_path / "cut.gif").read_bytes() == (tmp_path / "whole.gif").read_bytes()
    for step in movie.steps:
        name = f"frame_{step:012d}.png"
        assert (tmp_path / "cut.gif.frames" / name).read_bytes() == (tmp_path / "whole.gif.frames" / name).read_bytes()


def test_frames_survive_a_kill(tmp_path: Path) -> None:
    code = (
        "import lbmgpu as lbm, os, signal\n"
        "solver = lbm.Solver(lbm.Domain((12, 10), 'D2Q9'), lbm.BGK(0.1), device='cpu')\n"
        "solver.initialize(velocity=lambda x, y: (0.01 * y / 10, 0 * x))\n"
        "solver.record(lbm.Movie('killed.gif', every=5, dpi=30))\n"
        "end = lbm.Every(22, lambda solver: os.kill(os.getpid(), signal.SIGKILL))\n"
        "solver.run(40, callbacks=[end, lbm.Checkpoint('checkpoint.h5', 10)])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    whole = lbm.plot.movie_of_frames(tmp_path / "killed.gif", fps=10)
    assert len(frames_of_gif(whole)[0]) == 5
    solver = lbm.Solver.load(tmp_path / "checkpoint.h5", device="cpu")
    movie = solver.record(lbm.Movie(tmp_path / "killed.gif", every=5, dpi=30))
    solver.run(10)
    assert movie.steps == [0, 5, 10, 15, 20, 25, 30]
    assert len(frames_of_gif(movie.path)[0]) == 7
    with pytest.raises(FileNotFoundError, match=r"no frames in .*other\.gif\.frames"):
        lbm.plot.movie_of_frames(tmp_path / "other.gif")


def test_a_run_from_the_beginning_takes_the_place_of_an_older_movie(tmp_path: Path) -> None:
    for steps in (30, 10):
        solver = solver_of()
        movie = solver.record(lbm.Movie(tmp_path / "cavity.gif", every=5, dpi=30))
        solver.run(steps)
    assert movie.steps == [0, 5, 10]
    assert len(frames_of_gif(tmp_path / "cavity.gif")[0]) == 3


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    for recorder in (lbm.Image(tmp_path / "cavity.png"), lbm.Movie(tmp_path / "cavity.gif")):
        with pytest.raises(PermissionError, match=r"path: .* given, but the folder .* cannot be written to"):
            solver_of().record(recorder)


def test_only_fields_of_the_solver_are_suggested() -> None:
    with pytest.raises(ValueError, match=r"did you mean 'velocity_[xy]'") as caught:
        solver_of().plot("velocity")
    assert not any(name in str(caught.value) for name in ("velocity_z", "temperature", "eddy_viscosity"))


def test_close_removes_the_frames_and_leaves_the_movie(tmp_path: Path) -> None:
    solver = solver_of()
    movie = solver.record(lbm.Movie(tmp_path / "cavity.gif", every=5, dpi=30))
    solver.run(10)
    movie.close()
    assert [path.name for path in tmp_path.iterdir()] == ["cavity.gif"]


@pytest.mark.parametrize("name", ["cavity.mp4", "cavity.gif"])
def test_a_movie_that_cannot_be_written_is_named_and_leaves_the_old_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = solver_of()
    movie = solver.record(lbm.Movie(tmp_path / name, every=5, dpi=30))
    solver.run(10)
    before = movie.path.read_bytes()
    if name.endswith("mp4"):
        monkeypatch.setattr("lbmgpu.pictures.frames.ffmpeg", lambda: "/bin/false")
    else:
        monkeypatch.setitem(Pillow.SAVE_ALL, "GIF", no_space)
    with pytest.raises(OSError, match=name):
        solver.run(5)
    assert movie.path.read_bytes() == before
    assert movie.steps == [0, 5, 10, 15]
    monkeypatch.undo()
    solver.run(5)
    assert movie.path.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, f"{name}.frames"]


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(28, "No space left on device")


def test_frames_on_a_full_disk_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = solver_of()
    solver.record(lbm.Movie(tmp_path / "cavity.gif", every=5, dpi=30))
    solver.run(5)
    monkeypatch.setattr(Path, "write_bytes", no_space)
    with pytest.raises(OSError, match=r"No space left.*frame_000000000010\.png"):
        solver.run(5)
    assert len(frames_of_gif(tmp_path / "cavity.gif")[0]) == 2


def test_frames_of_two_sizes_are_refused(tmp_path: Path) -> None:
    solver = solver_of()
    movie = solver.record(lbm.Movie(tmp_path / "cavity.gif", every=5, dpi=30))
    Pillow.new("RGB", (10, 10)).save(tmp_path / "wide.png")
    solver.run(5)
    (tmp_path / "wide.png").rename(movie.frames / "frame_000000000001.png")
    with pytest.raises(ValueError, match=r"frames of .* and 10 x 10 "):
        solver.run(5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lbm.Movie("wake.avi"), r"path: wake.avi given, must end in .mp4 or .gif"),
        (lambda: lbm.Movie(3), "path: 3 given"),
        (lambda: lbm.Movie("wake.gif", fps=60), "fps: 60 given"),
        (lambda: lbm.Movie("wake.gif", fps=0), "fps: 0 given"),
        (lambda: lbm.Movie("wake.gif", every=0), "every: 0 given"),
        (lambda: lbm.Movie("wake.gif", dpi=1), "dpi: 1 given"),
        (lambda: lbm.Movie("wake.gif", felt="speed"), "option: 'felt' given.*did you mean 'field'"),
        (lambda: lbm.Movie("wake.gif", field=2), "field: 2 given"),
        (lambda: lbm.Movie("wake.gif", render=3), "render: 3 given"),
        (lambda: lbm.Movie("wake.gif", render=True, field="speed"), "field: given beside render"),
        (lambda: lbm.Movie("wake.gif", render={"isso": "speed"}), "option: 'isso' given.*did you mean 'iso'"),
        (lambda: lbm.Image("wake.xyz"), "path: 'wake.xyz' given, must end in .png"),
        (lambda: lbm.Image("wake.svg", render=True), "must end in .png"),
        (lambda: lbm.Image("wake_{stop}.png"), "must have no other braces than {step}"),
        (lambda: lbm.Image("wake_{step:z}.png"), "must have no other braces"),
        (lambda: lbm.Live(cmap="no"), "cmap: 'no' given"),
    ],
)
def test_wrong_arguments_are_refused_by_name(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_what_does_not_go_with_the_solver_is_refused_before_the_run(tmp_path: Path) -> None:
    solver = solver_of()
    with pytest.raises(ValueError, match="field: 'temperature' given, but this solver has"):
        solver.record(lbm.Movie(tmp_path / "a.gif", field="temperature"))
    with pytest.raises(ValueError, match="slice"):
        solver.record(lbm.Image(tmp_path / "a.png", slice="z"))
    with pytest.raises(ValueError, match="two dimensions"):
        solver.record(lbm.Image(tmp_path / "a.png", render=True))
    with pytest.raises(FileNotFoundError, match="no folder"):
        solver.record(lbm.Image(tmp_path / "none" / "a.png"))
    with pytest.raises(FileNotFoundError, match="no folder"):
        solver.record(lbm.Movie(tmp_path / "none" / "a.gif"))
    (tmp_path / "b.gif.frames").touch()
    with pytest.raises(ValueError, match=r"b.gif.frames.*is a file"):
        solver.record(lbm.Movie(tmp_path / "b.gif"))
    assert solver.recorders == ()


@pytest.mark.parametrize(
    ("missing", "make", "extra"),
    [
        ("imageio_ffmpeg", lambda: lbm.Movie("wake.mp4"), r"lbmgpu\[movie\]"),
        ("pyvista", lambda: lbm.Movie("wake.gif", render=True), r"lbmgpu\[pyvista\]"),
    ],
)
def test_a_missing_extra_is_named(missing: str, make: Any, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without(name: str, *others: Any, **more: Any) -> Any:
        if name == missing:
            raise ImportError(name)
        return found(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=f"pip install '{extra}'"):
        make()


def test_live_pictures_replace_each_other_in_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython.display

    shown: list[str] = []

    def display(picture: Any, display_id: bool) -> Any:
        assert display_id
        assert picture.data.startswith(b"\x89PNG")
        shown.append("new")
        return SimpleNamespace(update=lambda picture: shown.append("update"))

    shell = SimpleNamespace(kernel=object(), execution_count=1)
    monkeypatch.setattr(recorders, "_notebook", lambda: shell)
    monkeypatch.setattr(IPython.display, "display", display)
    solver = solver_of()
    solver.record(lbm.Live(every=5, dpi=30))
    solver.run(15)
    assert shown == ["new", "update", "update", "update"]
    shell.execution_count = 2
    solver.run(10)
    assert shown[4:] == ["new", "update"]


def test_live_is_refused_outside_of_notebooks() -> None:
    with pytest.raises(ValueError, match=r"Live: this is no notebook.*lbm.Image and lbm.Movie"):
        solver_of().record(lbm.Live(every=5))


def test_live_in_a_notebook_draws_in_its_output() -> None:
    nbformat, nbclient = need("nbformat"), need("nbclient")
    code = (
        "import lbmgpu as lbm\n"
        "solver = lbm.Solver(lbm.Domain((12, 10), 'D2Q9'), lbm.BGK(0.1), device='cpu')\n"
        "solver.initialize(velocity=lambda x, y: (0.01 * y / 10, 0 * x))\n"
        "solver.record(lbm.Live(every=5, dpi=30)); result = solver.run(15)"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell("solver.plot()")])
    nbclient.NotebookClient(book, timeout=120).execute()
    outputs = [[output for output in cell.outputs if "image/png" in output.get("data", {})] for cell in book.cells]
    assert [len(images) for images in outputs] == [1, 1]


def test_drawing_leaves_no_figures_open(tmp_path: Path) -> None:
    code = (
        "import lbmgpu as lbm, sys, gc, matplotlib\n"
        "solver = lbm.Solver(lbm.Domain((12, 10), 'D2Q9'), lbm.BGK(0.1), device='cpu')\n"
        "solver.record(lbm.Movie('a.gif', every=1, dpi=20))\n"
        "solver.run(12); gc.collect()\n"
        "from matplotlib.figure import Figure\n"
        "print('matplotlib.pyplot' in sys.modules, sum(isinstance(o, Figure) for o in gc.get_objects()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "0"]
