"""Ranges on a profiler's timeline, as a tool sees them that follows the protocol of NVTX."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*Function)(void);
typedef struct {
    size_t size;
    int (*functions)(int module, Function*** table, unsigned* count);
} Callbacks;

static int push(const char* name) { fprintf(stderr, "push %s\n", name); return 0; }
static int pop(void) { fprintf(stderr, "pop\n"); return 0; }

int InitializeInjectionNvtx2(const void* (*table)(uint32_t)) {
    const Callbacks* callbacks = table(1);
    Function** functions;
    unsigned count;
    if (table(2) != NULL || table(3) == NULL || !callbacks->functions(1, &functions, &count) || count != 16) {
        return 0;
    }
    if (callbacks->functions(5, &functions, &count)) {
        return 0;
    }
    callbacks->functions(1, &functions, &count);
    *functions[9] = (Function)push;
    *functions[11] = (Function)pop;
    return 1;
}
"""

PROGRAM = """
import lbmgpu as lbm
layout = lbm.Layout.split((8, 8), (1, 2))
solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=layout, threads=1, schedule="overlap")
solver.step(2)
print(solver.mass())
"""


def ranges(**environment: str) -> list[str]:
    """What a tool hears of a solver of two blocks."""
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert float(done.stdout) > 0
    return done.stderr.splitlines()


def test_the_parts_of_a_step_are_ranges(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a compiler of C")
    source, tool = tmp_path / "tool.c", tmp_path / "libtool.so"
    source.write_text(TOOL)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(tool), str(source)], check=True)
    parts = ["boundary", "shell", "exchange", "interior", "end of exchange"]
    step = [line for part in parts for line in (f"push lbmgpu {part}", "pop")]
    assert ranges(NVTX_INJECTION64_PATH=str(tool)) == step * 2


def test_without_a_tool_there_are_none(tmp_path: Path) -> None:
    assert ranges() == []
    broken = tmp_path / "broken.so"
    broken.write_text("no library")
    for path in (tmp_path / "missing.so", broken):
        assert ranges(NVTX_INJECTION64_PATH=str(path)) == []
