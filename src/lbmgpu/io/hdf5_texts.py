"""Reads attributes of variable length from an HDF5 file, without the library, which hangs on a damaged heap of texts.

It knows the parts that checkpoints of versions 1 to 3 consist of (HDF5 File Format Specification 3.0): the superblock
of version 3 (II.A), object headers of version 2 (IV.A.1.b), attribute messages of version 3 (IV.A.2.m), global heaps
(III.E).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from .hdf5_tree import MAX_TEXT, UnexpectedError

_ATTRIBUTE, _CONTINUATION = 0x0C, 0x10
_BLOCKS = 16
"""The largest number of parts of an object header that are read."""
_LARGEST = 2**16
"""The largest size of one part, and of a heap, bytes."""


def texts(descriptor: int) -> dict[str, str]:
    """The attributes of the root group that are single texts of variable length.

    Raises:
        UnexpectedError, struct.error, UnicodeDecodeError: the file consists of other parts, or is damaged.
    """
    found: dict[str, str] = {}
    for kind, message in _messages(descriptor):
        if kind != _ATTRIBUTE:
            continue
        version, _, name_size, type_size, space_size, _ = struct.unpack_from("<BBHHHB", message)
        if version != 3:
            raise UnexpectedError("an attribute is not of the version that it must be")
        name = message[9 : 9 + name_size].rstrip(b"\0").decode()
        data = message[9 + name_size + type_size + space_size :]
        if type_size and message[9 + name_size] & 0x0F == 9:  # of variable length
            found[name] = _in_heap(descriptor, *struct.unpack_from("<IQI", data))
    return found


def _part(descriptor: int, place: int, size: int) -> bytes:
    if size > _LARGEST or place >= 2**63:
        raise UnexpectedError("a part of the header is too large")
    part = os.pread(descriptor, size, place)
    if len(part) != size:
        raise EOFError("the file ends too early")
    return part


def _messages(descriptor: int) -> Iterator[tuple[int, bytes]]:
    """The type and the content of each message in the header of the root group."""
    superblock = _part(descriptor, 0, 48)
    if superblock[:8] != b"\x89HDF\r\n\x1a\n" or superblock[8] not in (2, 3) or superblock[9:11] != b"\x08\x08":
        raise UnexpectedError("the file is not of the version of HDF5 that it must be")
    (place,) = struct.unpack_from("<Q", superblock, 36)
    head = _part(descriptor, place, 6)
    if head[:5] != b"OHDR\2":
        raise UnexpectedError("the header of the root group is not there")
    flags = head[5]
    start = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    size = int.from_bytes(_part(descriptor, place + start, width), "little")
    blocks = [_part(descriptor, place + start + width, size)]
    for count, block in enumerate(blocks):
        at, header = 0, 6 if flags & 4 else 4
        while at + header <= len(block):
            kind, length = struct.unpack_from("<BH", block, at)
            message = block[at + header : at + header + length]
            at += header + length
            if kind == _CONTINUATION and count < _BLOCKS:
                where, size = struct.unpack_from("<QQ", message)
                blocks.append(_part(descriptor, where, size)[4:-4])  # between its signature and its checksum
            yield kind, message


def _in_heap(descriptor: int, length: int, place: int, index: int) -> str:
    head = _part(descriptor, place, 16)
    (size,) = struct.unpack_from("<Q", head, 8)
    if head[:5] != b"GCOL\1" or length > MAX_TEXT:
        raise UnexpectedError("the heap of texts is not there")
    heap, at = _part(descriptor, place, size), 16
    while at + 16 <= size:
        number, _, _, used = struct.unpack_from("<HHIQ", heap, at)
        if number == 0:
            break
        if number == index:
            if length > used or at + 16 + used > size:
                break
            return heap[at + 16 : at + 16 + length].decode()
        at += 16 + -(-used // 8) * 8
    raise UnexpectedError("a text is not in its heap")
