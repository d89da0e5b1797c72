"""What a user hears of the folder of compiled kernels; tests/cpp/test_kernel_cache.cpp has what it refuses."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from lbmgpu.parallel import kernel_cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kernels"
    monkeypatch.setenv("LBMGPU_CACHE_DIR", str(folder))
    kernel_cache.warn_if_refused.cache_clear()
    return folder


def test_a_folder_that_others_can_write_is_warned_of_once(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=f"kernel cache: {folder} can be written by others; 'chmod go-w' mends it"):
        kernel_cache.warn_if_refused()
    assert kernel_cache.status().startswith(f"none; {folder} can be written by others")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel_cache.warn_if_refused()


@pytest.mark.parametrize("mode", [None, 0o700, 0o755])
def test_a_folder_of_the_users_own_is_used_without_a_word(folder: Path, mode: int | None) -> None:
    if mode is not None:
        folder.mkdir()
        folder.chmod(mode)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel_cache.warn_if_refused()
    assert kernel_cache.status() == str(folder)
