"""The orders in which the devices of several hosts get the blocks of a cut: those of a host side by side in a brick."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..parallel.cuts import cuts
from .cost_model import Device, Vector


def arrangements(parts: Vector, devices: Sequence[Device]) -> list[tuple[Device, ...]]:
    """The devices in the order of blocks, as given and in bricks of blocks a host, of all forms that fit the parts.

    Bricks have less surface through which the network goes than the layers or rows that the given order makes. There
    are none where the hosts have different numbers of devices, or there is one host.
    """
    given = tuple(devices)
    by_host: dict[int, list[Device]] = {}
    for device in given:
        by_host.setdefault(device.host, []).append(device)
    of_a_host = len(given) // len(by_host)
    if len(by_host) == 1 or any(len(own) != of_a_host for own in by_host.values()):
        return [given]
    found = [given]
    hosts = list(by_host.values())
    for brick in cuts(of_a_host, parts):
        if any(n % k for n, k in zip(parts, brick, strict=True)):
            continue
        order = []
        counts = tuple(n // k for n, k in zip(parts, brick, strict=True))
        for place in itertools.product(*(range(n) for n in parts)):
            which = _number(tuple(i // k for i, k in zip(place, brick, strict=True)), counts)
            inside = _number(tuple(i % k for i, k in zip(place, brick, strict=True)), brick)
            order.append(hosts[which][inside])
        found.append(tuple(order))
    return list(dict.fromkeys(found))


def _number(place: Vector, sizes: Vector) -> int:
    """The number of a place among all places, the last axis changing fastest."""
    number = 0
    for i, n in zip(place, sizes, strict=True):
        number = number * n + i
    return number
