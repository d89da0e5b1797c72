"""Recorders that draw while a solver advances: pictures with a period, movies, and a picture in a notebook."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .. import checks
from ..files.atomic_write import naming, replacing
from ..files.regular_files import file_path, output_path
from ..solver import Solver, simulation_of
from ..solver.recording import Recorder
from . import scene as scenes
from .frames import FrameFolder, ffmpeg, write_gif, write_mp4
from .scene import Scene
from .view import Plane, View, encoded, figure_of, plane_of, with_options

_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".svg", ".pdf")
"""Of the pictures of a plane."""
_OTHER = ("every", "start", "name", "render", "dpi")
Limits = dict[str, float]
Draw = Callable[[str], tuple[bytes, Limits]]
_MOST_DPI = 2400


class _Drawing:
    """What a recorder draws: a plane, or a rendering."""

    def __init__(self, render: Mapping[str, Any] | bool | None = None, dpi: float = 100, **options: Any) -> None:
        self.dpi = checks.number("dpi", dpi, at_least=10, at_most=_MOST_DPI)
        self.view: View | None = None
        self.scene: Scene | None = None
        if render is None or render is False:
            self.view = with_options(View, options, _OTHER)
            return
        if render is not True and not isinstance(render, Mapping):
            raise TypeError(f"render: {checks.shown(render)} given, must be True or a dict of options of plot.render")
        if options:
            raise ValueError(f"{next(iter(options))}: given beside render, must be one of its options, or left out")
        self.scene = with_options(Scene, {} if render is True else render)
        scenes.loaded()

    def check(self, solver: Solver) -> None:
        """Raise TypeError or ValueError where it does not go with a solver."""
        (self.view or self.scene).check(solver)  # type: ignore[union-attr]

    def read(self, solver: Solver, limits: Limits) -> Draw | None:
        """What is drawn on rank 0, which gets a function for that; the others, which call this together, get None.

        The function takes the ending of a file, and gives its bytes and what other frames must have in common with it.
        """
        ends = (limits["vmin"], limits["vmax"]) if "vmin" in limits else None
        if self.scene is not None:
            found = scenes.shown(solver, self.scene.with_limits(ends, limits.get("level")))
            return None if found is None else partial(_rendered, found)
        assert self.view is not None
        plane = plane_of(solver, self.view)
        return None if plane is None else partial(self._figure, plane, ends or plane.limits)

    def _figure(self, plane: Plane, ends: tuple[float, float] | None, suffix: str) -> tuple[bytes, Limits]:
        assert self.view is not None
        figure = figure_of(plane, self.view.with_limits(ends))
        return encoded(figure, self.dpi, suffix[1:]), {} if ends is None else {"vmin": ends[0], "vmax": ends[1]}


def _rendered(found: scenes.Shown, suffix: str) -> tuple[bytes, Limits]:
    """The bytes of a rendering, and the ends of its colours and the level of its surface."""
    used = {} if found.limits is None else {"vmin": found.limits[0], "vmax": found.limits[1]}
    level = found.scene.level
    picture = scenes.encoded(scenes.image_of(found), suffix)
    return picture, {**used, **({} if level is None else {"level": level})}


class Image(Recorder):
    """Pictures of the flow with a period: ``solver.record(lbm.Image("wake_{step}.png", every=100))``.

    The first one is of the state that the steps begin with, if that is due: of step 0 unless `start` is later.
    Each file appears whole or not at all. All ranks record it; rank 0 draws and writes.

    Args:
        path: of the files, with ``{step}`` for the number of steps, also as ``{step:06d}``; without it each picture
            takes the place of the one before. A plane is saved as PNG, JPEG, TIFF, SVG or PDF, by the ending; a
            rendering as PNG, JPEG or TIFF.
        every, start, name: as of every `Recorder`; the name is that of the file if None.
        drawn: what is drawn. Of a plane the options of `Solver.plot`: `field`, `slice`, `streamlines`, `bodies`,
            `units`, `vmin`, `vmax`, `cmap`; and `dpi`, pixels an inch, 100 by default, where a plane of 2 to 1 is 7
            inches wide. For a picture of three dimensions `render`, True or a dict of options of `lbm.plot.render`.

    Raises:
        TypeError, ValueError: a wrong argument.
        FileNotFoundError: the folder of `path` does not exist.
        ImportError: PyVista is missing.
    """

    samples_initial = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: int = 1,
        start: int = 0,
        name: str | None = None,
        **drawn: Any,
    ) -> None:
        self._pattern = os.fspath(file_path("path", path))
        first = self.path_at(0)
        super().__init__(every, start, first.name if name is None else name)
        self._drawing = _Drawing(**drawn)
        endings = [e for e in _ENDINGS if self._drawing.scene is None or e in scenes.ENDINGS]
        if first.suffix.lower() not in endings:
            raise ValueError(f"path: {checks.shown(path)} given, must end in {checks.alternatives(endings)}")

    def path_at(self, step: int) -> Path:
        """Of the picture after so many steps."""
        try:
            return Path(self._pattern.format(step=step))
        except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
            right = "must have no other braces than {step}, or {step:06d}"
            raise ValueError(f"path: {checks.shown(self._pattern)} given, {right} ({error})") from None

    def attach(self, solver: Solver) -> None:
        """See `Recorder.attach`."""
        self._drawing.check(solver)
        simulation_of(solver).processes.on_first(lambda: output_path("path", self.path_at(0)))

    def sample(self, solver: Solver) -> None:
        """See `Recorder.sample`."""
        target = self.path_at(solver.steps)
        draw = self._drawing.read(solver, {})

        def write() -> None:
            if draw is not None:
                picture, _ = draw(target.suffix)
                with replacing(target) as temporary:
                    temporary.write_bytes(picture)

        simulation_of(solver).processes.on_first(write)


class Movie(Recorder):
    """A movie of the flow: ``solver.record(lbm.Movie("wake.mp4", every=100))``.

    Its frames are PNG files in a folder beside it, ``wake.mp4.frames``, each written when it is drawn, so that a crash
    leaves all of them. At the end of each run the movie is made of all frames, whole or not at all. A run that goes on
    from a checkpoint goes on with the frames up to it; later ones go when the first new one is drawn, so that a run
    from step 0 begins anew. The first frame is of the state that the steps begin with, if that is due; after a restart
    it takes the place of the frame of the same step. `close` removes the frames, when the movie is finished.

    The ends of the colours, and the level of a surface, are the same for all frames: those given, or those of the first
    frame that is not of one value all over.

    All ranks record it; rank 0 draws and writes.

    Args:
        path: of the movie: ``.mp4`` (H.264), by the extra ``lbmgpu[movie]``; or ``.gif``.
        every, start, name: as of every `Recorder`; the name is that of the file if None.
        fps: frames a second; a GIF has 50 at most.
        drawn: as of `Image`.

    Raises:
        TypeError, ValueError: a wrong argument.
        ImportError: imageio-ffmpeg, or PyVista, is missing.
    """

    samples_initial = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: int = 1,
        start: int = 0,
        name: str | None = None,
        *,
        fps: float = 25,
        **drawn: Any,
    ) -> None:
        self._target = file_path("path", path)
        endings = (".mp4", ".gif")
        if self._target.suffix.lower() not in endings:
            raise ValueError(f"path: {self._target} given, must end in {checks.alternatives(endings)}")
        super().__init__(every, start, self._target.name if name is None else name)
        self._is_gif = self._target.suffix.lower() == ".gif"
        self._fps = checks.number("fps", fps, above=0, at_most=50 if self._is_gif else 240)
        self._drawing = _Drawing(**drawn)
        if not self._is_gif:
            ffmpeg()
        self._frames = FrameFolder(self._target)
        self._has_new = False
        self._is_made = False

    @property
    def path(self) -> Path:
        """Of the movie."""
        return self._target

    @property
    def frames(self) -> Path:
        """The folder of the frames."""
        return self._frames.path

    @property
    def steps(self) -> list[int]:
        """After which the frames that are there were drawn."""
        return self._frames.steps

    def attach(self, solver: Solver) -> None:
        """See `Recorder.attach`."""
        self._drawing.check(solver)

        def check_paths() -> None:
            output_path("path", self._target)
            if self.frames.exists() and not self.frames.is_dir():
                raise ValueError(f"path: {self._target} given, but {self.frames}, the folder of its frames, is a file")

        simulation_of(solver).processes.on_first(check_paths)

    def sample(self, solver: Solver) -> None:
        """See `Recorder.sample`."""
        step, processes = solver.steps, simulation_of(solver).processes
        limits = processes.on_first(lambda: self._frames.limits(step)) or {}
        limits = processes.shared(limits)[0]
        draw = self._drawing.read(solver, limits)

        def write() -> None:
            if draw is not None:
                picture, used = draw(".png")
                with naming(self._frames.file(step)):
                    self._frames.add(step, picture)
                    if used != limits:
                        self._frames.set_limits(used)

        processes.on_first(write)
        self._has_new = True

    def flush(self) -> None:
        """Make the movie of the frames so far; see `Recorder.flush`."""
        if self._solver is None or not self._has_new:
            return
        simulation_of(self._solver).processes.on_first(self.write)
        self._has_new, self._is_made = False, True

    def write(self) -> None:
        """Make the movie of the frames that are there; of several ranks one alone does so."""
        (write_gif if self._is_gif else write_mp4)(self._frames, self._target, self._fps)

    def close(self) -> None:
        """Make the movie and remove its frames: it is finished, and no later run can go on with it.

        All ranks call it together.
        """
        self.flush()

        def finish() -> None:
            if not self._is_made and self.steps:  # of a run before this one, which may not have come to its end
                self.write()
            self._frames.remove()

        simulation_of(self.solver).processes.on_first(finish)


def movie_of_frames(path: str | os.PathLike[str], fps: float = 25) -> Path:
    """Make the movie at `path` of the frames that a run has left beside it, one that crashed say; return its path.

    Args:
        path: of the movie, as that of `Movie`; its frames are in the folder of this name with ``.frames`` after it.
        fps: as of `Movie`.

    Raises:
        TypeError, ValueError: a wrong argument.
        FileNotFoundError: there are no frames.
        OSError: the movie cannot be written.
    """
    movie = Movie(path, fps=fps)
    if not movie.steps:
        raise FileNotFoundError(f"path: {movie.path} given, but there are no frames in {movie.frames}")
    output_path("path", movie.path)
    movie.write()
    return movie.path


class Live(Recorder):
    """A picture in the output of a notebook's cell, redrawn while a solver advances: ``solver.record(lbm.Live(100))``.

    Args:
        every, start, name: as of every `Recorder`.
        drawn: as of `Image`, but for a `dpi` of 80 by default.

    Raises:
        TypeError, ValueError: a wrong argument; by `Solver.record` that this is no notebook, where `Image` and `Movie`
            take its place.
    """

    samples_initial = True

    def __init__(
        self,
        every: int = 1,
        start: int = 0,
        name: str | None = None,
        **drawn: Any,
    ) -> None:
        super().__init__(every, start, name)
        self._drawing = _Drawing(**{"dpi": 80, **drawn})
        self._shown: Any = None
        self._cell: object = None

    def attach(self, solver: Solver) -> None:
        """See `Recorder.attach`."""
        if _notebook() is None:
            raise ValueError("Live: this is no notebook, which it draws in; lbm.Image and lbm.Movie write files")
        self._drawing.check(solver)

    def sample(self, solver: Solver) -> None:
        """See `Recorder.sample`."""
        from IPython import display as notebook  # the module

        draw = self._drawing.read(solver, {})
        if draw is None:
            return
        picture, _ = draw(".png")
        show: Any = notebook.display
        picture_of: Any = notebook.Image
        cell = getattr(_notebook(), "execution_count", None)
        if self._shown is None or cell != self._cell:  # another cell has an output of its own
            self._shown, self._cell = show(picture_of(data=picture, format="png"), display_id=True), cell
        else:
            self._shown.update(picture_of(data=picture, format="png"))


def _notebook() -> Any:
    """The shell of IPython that a notebook runs in; None elsewhere, in a terminal's too."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    return shell if shell is not None and getattr(shell, "kernel", None) is not None else None
