"""The name of the host that a process runs on, which tests may pretend, and how two names of hosts are compared."""

from __future__ import annotations

import os
import platform

VARIABLE = "LBMGPU_HOST"
"""The environment variable that overrides the name. Ranks of different names share no memory, as if a network were
between them: so what depends on hosts can be tried on one machine."""


def pretended() -> str:
    """The name that the environment variable gives to the host of this process; empty where it gives none."""
    return os.environ.get(VARIABLE, "").strip()


def own_name() -> str:
    """The name of the host of this process: the pretended one, or the machine's."""
    return pretended() or platform.node()


def same(one: str, other: str) -> bool:
    """Whether two names are those of one host: equal, or one of them without the domain, as in ``node1.cluster``."""
    return one == other or one.split(".")[0] == other or one == other.split(".")[0]
