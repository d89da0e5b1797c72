"""The frames of a movie: PNG files in a folder beside it, from which the movie is made, whole or not at all."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..files.atomic_write import replacing, write_text

_NAME = re.compile(r"frame_(\d{12})\.png")
_HEADER = struct.Struct(">8s4x4sII")
HUNDREDTHS = 100
"""A GIF counts the time of a frame in hundredths of a second."""


class FrameFolder:
    """The frames of the movie `target`, in ``wake.mp4.frames`` for ``wake.mp4``; each file is named by its step.

    Beside them, `limits.json` has what is the same for all frames: the ends of the colours, and the level of a surface.
    """

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f"{target.name}.frames")

    @property
    def steps(self) -> list[int]:
        """Of the frames that are there, in order."""
        if not self.path.is_dir():
            return []
        found = [_NAME.fullmatch(entry.name) for entry in self.path.iterdir()]
        return sorted(int(match[1]) for match in found if match)

    def file(self, step: int) -> Path:
        """Of the frame after so many steps."""
        return self.path / f"frame_{step:012d}.png"

    def add(self, step: int, picture: bytes) -> None:
        """Write a frame; those of this step and of later ones, which an earlier run has left, go.

        Raises:
            OSError: the disk refuses it; the frames before stay as they are.
        """
        self.path.mkdir(exist_ok=True)
        for later in self.steps:
            if later >= step:
                self.file(later).unlink()
        with replacing(self.file(step)) as temporary:
            temporary.write_bytes(picture)

    def limits(self, step: int) -> dict[str, float]:
        """What the frames before `step` have in common; nothing if there are none or they have not said."""
        file = self.path / "limits.json"
        if not any(there < step for there in self.steps) or not file.is_file():
            return {}
        try:
            found = json.loads(file.read_bytes())
            return {str(name): float(value) for name, value in found.items()}
        except (ValueError, TypeError, AttributeError):
            raise ValueError(f"{file}: cannot be read as the limits of a movie; remove {self.path}") from None

    def set_limits(self, limits: dict[str, float]) -> None:
        """Say what the frames have in common."""
        self.path.mkdir(exist_ok=True)
        write_text(self.path / "limits.json", json.dumps(limits))

    def remove(self) -> None:
        """Remove the frames, and the folder if nothing else is in it."""
        for step in self.steps:
            self.file(step).unlink()
        (self.path / "limits.json").unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def size(self) -> tuple[int, int]:
        """The width and the height of all frames, in pixels.

        Raises:
            ValueError: they differ, or one is no PNG file.
        """
        sizes: dict[tuple[int, int], Path] = {}
        for step in self.steps:
            with open(self.file(step), "rb") as file:
                head = file.read(_HEADER.size)
            if len(head) < _HEADER.size or head[:4] != b"\x89PNG":
                raise ValueError(f"{self.file(step)}: is no PNG file; remove it")
            _, _, width, height = _HEADER.unpack(head)
            sizes.setdefault((width, height), self.file(step))
        if len(sizes) > 1:
            known = " and ".join(f"{width} x {height} ({path.name})" for (width, height), path in sizes.items())
            raise ValueError(f"{self.path}: frames of {known}; must be of one size: remove those of another movie")
        return next(iter(sizes))


def ffmpeg() -> str:
    """The path of the program ffmpeg that imageio-ffmpeg has.

    Raises:
        ImportError: it is not there, with what to install.
    """
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise ImportError("MP4 movies need imageio-ffmpeg: pip install 'lbmgpu[movie]' (a .gif needs none)") from None
    program: str = get_ffmpeg_exe()
    return program


def write_mp4(frames: FrameFolder, target: Path, fps: float) -> None:
    """H.264, which browsers and presentations show.

    Raises:
        OSError: the file cannot be written; an older one stays as it was.
        ValueError: the frames are not of one size.
    """
    frames.size()
    given = ["-f", "image2pipe", "-framerate", f"{fps:g}", "-c:v", "png", "-i", "-"]
    even = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white"]
    kind = ["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-r", f"{fps:g}", "-movflags", "+faststart"]
    with replacing(target, ".mp4") as temporary, tempfile.TemporaryFile() as said:
        command = [ffmpeg(), "-y", "-loglevel", "error", *given, *even, *kind, "-f", "mp4", str(temporary)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said) as process:
            assert process.stdin is not None
            try:
                for step in frames.steps:
                    process.stdin.write(frames.file(step).read_bytes())
                process.stdin.close()
            except BrokenPipeError:  # it has ended, and says why
                pass
            except BaseException:
                process.kill()
                raise
            code = process.wait()
        if code != 0:
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
            raise OSError(f"{target}: cannot be written (ffmpeg: {lines[-1] if lines else f'ended by {code}'})")


def write_gif(frames: FrameFolder, target: Path, fps: float) -> None:
    """A GIF that begins anew at its end; what raises is as of `write_mp4`."""
    from PIL import Image

    frames.size()
    first, *others = frames.steps

    def opened(step: int) -> Image.Image:
        with Image.open(frames.file(step)) as picture:
            return picture.convert("RGB").quantize(colors=256)

    def rest() -> Iterator[Image.Image]:
        yield from map(opened, others)

    duration = max(2, round(HUNDREDTHS / fps)) * (1000 // HUNDREDTHS)
    with replacing(target, ".gif") as temporary:
        opened(first).save(
            temporary, format="GIF", save_all=True, append_images=rest(), duration=duration, loop=0, optimize=False
        )
