"""Collisions of users, which `_core` has; there is no module of this name."""

from typing import Any

class CompileError(RuntimeError):
    """The text of a user's collision does not compile, or there is nothing to compile it with; `str` has the log."""

def custom_numbers(
    custom: dict[str, Any],
    parameters: dict[str, Any],
    *,
    stencil: str,
    precision: str,
    storage: str,
    thermal: bool = False,
    device: str = "cpu",
    isa: str = "",
) -> list[float]:
    """The parameters of a collision of the user's as a row of numbers, made by its own code, compiled for `device`.
    `custom` holds the struct's `name`, `file` and `text`. Raises CompileError, ValueError or CudaError."""

def custom_resources(
    custom: dict[str, Any],
    *,
    stencil: str,
    precision: str,
    storage: str,
    streaming: str,
    size: int,
    architecture: str,
    thermal: bool = False,
) -> list[str]:
    """As `cuda_update_resources`, the kernel that makes the parameters first; `custom` holds the `numbers` too."""
