"""Checks what is in an HDF5 file before any of it is read: no link is followed, no other file is opened."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from h5py import h5a, h5d, h5g, h5l, h5o, h5s, h5t, h5z

MAX_TEXT = 4096
"""The largest size of an attribute, bytes."""


class UnexpectedError(Exception):
    """The file has something that it must not have, or lacks something that it must have."""


def names(group: h5g.GroupID, known: Collection[str]) -> set[str]:
    """The names in a group; UnexpectedError unless all of them are `known` and hard links."""
    found: dict[str, int] = {}

    def look(name: bytes, info: Any) -> bool | None:  # it must not raise, as h5py loses the exception
        text = name.decode(errors="replace")
        found[text] = info.type
        return None if text in known else True

    group.links.iterate(look, info=True)
    for name, kind in found.items():
        if name not in known or kind != h5l.TYPE_HARD:
            raise UnexpectedError(f"{name!r} is {'not known' if name not in known else 'a link to another place'}")
    return set(found)


def check_link(group: h5g.GroupID, name: str) -> None:
    """Raise KeyError unless a group has that name, UnexpectedError if it is not a hard link."""
    if group.links.get_info(name.encode()).type != h5l.TYPE_HARD:
        raise UnexpectedError(f"{name!r} is a link to another place")


def dataset(
    group: h5g.GroupID, name: str, layouts: Iterable[int] = (h5d.CONTIGUOUS,), filters: Iterable[int] = ()
) -> h5d.DatasetID:
    """The dataset by that name in a group whose `names` have been looked at, stored in the file itself.

    Args:
        group: the group that it is in.
        name: its name, without a slash.
        layouts: the storage layouts that it may have, as numbers of h5py.h5d.
        filters: the filters that its data may have passed, as numbers of h5py.h5z.
    """
    found = h5o.open(group, name.encode())
    if not isinstance(found, h5d.DatasetID):
        raise UnexpectedError(f"{name!r} is not a dataset")
    created = found.get_create_plist()
    if created.get_layout() not in layouts or created.get_external_count() > 0:
        raise UnexpectedError(f"{name!r} is not stored as it must be")
    used = {created.get_filter(index)[0] for index in range(created.get_nfilters())}
    if not used <= set(filters):
        raise UnexpectedError(f"{name!r} has filters that it must not have")
    kind = found.get_type()
    if kind.committed() or kind.get_class() not in (h5t.INTEGER, h5t.FLOAT, h5t.ENUM):
        raise UnexpectedError(f"{name!r} does not hold numbers")
    if found.get_space().get_simple_extent_type() != h5s.SIMPLE or h5a.get_num_attrs(found):
        raise UnexpectedError(f"{name!r} is not a plain array")
    return found


def attributes(group: h5g.GroupID, known: Collection[str]) -> dict[str, Any]:
    """The values of a group's attributes, which must be exactly the `known` ones; see `attribute`."""
    found: set[str] = set()

    def look(name: bytes, *_: Any) -> bool | None:
        found.add(name.decode(errors="replace"))
        return None if found <= set(known) else True

    h5a.iterate(group, look)
    for name in found ^ set(known):
        raise UnexpectedError(f"the attribute {name!r} is {'not known' if name in found else 'not there'}")
    return {name: attribute(group, name) for name in known}


def attribute(group: h5g.GroupID, name: str) -> Any:
    """The value of a group's attribute, a number or a short text; None if it is missing or a text of variable length.

    The library hangs on a damaged heap of such texts: see `hdf5_texts`.
    """
    if not h5a.exists(group, name.encode()):
        return None
    found = h5a.open(group, name.encode())
    kind = found.get_type()
    number = kind.get_class() in (h5t.INTEGER, h5t.FLOAT)
    if found.get_space().get_simple_extent_type() != h5s.SCALAR or found.get_storage_size() > MAX_TEXT:
        raise UnexpectedError(f"the attribute {name!r} is not a single value")
    if kind.committed() or not (number or kind.get_class() == h5t.STRING):
        raise UnexpectedError(f"the attribute {name!r} is neither a number nor a text")
    if not number and kind.is_variable_str():
        return None
    value = np.empty((), found.dtype)
    found.read(value)
    return value.item() if number else value.item().decode()


DEFLATE, SHUFFLE, FLETCHER32 = h5z.FILTER_DEFLATE, h5z.FILTER_SHUFFLE, h5z.FILTER_FLETCHER32
