"""Temporary files in the folder of the file that they become, which are recognised when their process is gone."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_LONG = 150
"""Bytes of a file's name beyond which its temporary's name would come near the 255 that a system takes."""
_ATTEMPTS = 20


class TemporaryFile:
    """A new file in the folder of `target`, open for reading and writing.

    It is made with O_EXCL and follows no link, and is locked (``flock``) while it is open, so that whoever can lock it
    knows that its process is gone. Its name has the host and the process number, for people who find it, and ends with
    `suffix`, or as the target's does if None.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, target: Path, suffix: str | None = None) -> None:
        self._target = target
        self._is_there = True
        for attempt in range(_ATTEMPTS):
            name = f".tmp-{_host()}-{os.getpid()}-{secrets.token_hex(4)}-{_ending(target, suffix)}"
            self.path = target.with_name(name)
            try:
                self.descriptor = os.open(
                    self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666
                )
            except FileExistsError:
                if attempt == _ATTEMPTS - 1:
                    raise
                continue
            if locked(self.descriptor) is not False and self.path.exists():
                return
            if attempt < _ATTEMPTS - 1:  # another process may have just taken it for abandoned
                self.close()
        # Someone else holds the locks of new files, or removes them; the checks of `move` still hold.

    def move(self) -> None:
        """Move the file to the target's path; OSError if somebody has put another file at its own path."""
        own, there = os.fstat(self.descriptor), os.lstat(self.path)
        if (own.st_dev, own.st_ino) != (there.st_dev, there.st_ino):
            raise OSError(f"{self.path.name} is not the file that was made there")
        os.replace(self.path, self._target)
        self._is_there = False
        with suppress(OSError):  # unlocked at once, for programs that lock the files they read, as HDF5 does
            fcntl.flock(self.descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file, and remove it unless it has been moved."""
        try:
            if self._is_there:
                self.path.unlink(missing_ok=True)
        finally:
            os.close(self.descriptor)


def remove_abandoned(target: Path, suffix: str | None = None) -> None:
    """Remove the temporary files of `target` that processes of this host have left when they were killed.

    Those of living processes, of other hosts, and on file systems without locks stay.
    """
    pattern = re.compile(rf"\.tmp-{re.escape(_host())}-\d+-[0-9a-f]{{8}}-{re.escape(_ending(target, suffix))}")
    found: list[Path] = []
    with suppress(OSError), os.scandir(target.parent) as entries:
        found = [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]
    for path in found:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode) and locked(descriptor):
                    path.unlink()
            finally:
                os.close(descriptor)


def locked(descriptor: int) -> bool | None:
    """Lock an open file and return whether that worked; None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", platform.node())[:32]


def _ending(target: Path, suffix: str | None) -> str:
    """The target's name, or the digest of a long one, with the suffix."""
    suffix = target.suffix[:16] if suffix is None else suffix
    name = target.name
    if len(os.fsencode(name)) > _LONG:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return name if name.endswith(suffix) else name + suffix
