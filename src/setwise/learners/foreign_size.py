"""How far an estimator's bytes unpack, found out before skops unpacks them.

skops writes a zip archive: ``schema.json``, and each array or sparse matrix as a member that the
schema names. setwise has it store members as they are, so nothing in the archive is larger than the
archive, as long as each member is read once and no two share their bytes. Sparse matrices are zip
archives of their own, which scipy does compress: they are measured.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from setwise.errors import StorageError
from setwise.storage import Room, announced_size


def check_size(contents: bytes, room: Room) -> None:
    """Refuse an archive that unpacks to more than itself and ``room`` for its sparse matrices."""
    try:
        with zipfile.ZipFile(io.BytesIO(contents)) as archive:
            _check_stored(archive, len(contents))
            _check_read_once(json.loads(archive.read("schema.json")))
            inner = sum(_announced_inside(archive, member) for member in archive.infolist())
    except Exception as error:
        raise StorageError(f"not a readable estimator ({error}); save the model again") from error
    room.take(inner)


def _check_stored(archive: zipfile.ZipFile, size: int) -> None:
    """Members as they are, side by side: their sizes add up to less than the archive's."""
    members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("it holds compressed members, where plain ones were expected")
    if sum(member.file_size for member in members) > size:
        raise ValueError(f"it holds members of more than its {size} bytes")


def _check_read_once(schema: Any) -> None:
    """Each member under one id: skops reads an object once an id, and again under another."""
    first_id: dict[str, Any] = {}
    for name, identity in _members_named(schema):
        if name in first_id and (not identity or first_id[name] != identity):
            raise ValueError(f"it reads its member {name!r} again and again")
        first_id[name] = identity


def _members_named(schema: Any) -> Iterator[tuple[str, Any]]:
    """The name and the id of each object in the schema that is kept in a member."""
    nodes = [schema]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            if isinstance(node.get("file"), str):
                yield node["file"], node.get("__id__")
            nodes.extend(node.values())
        elif isinstance(node, list):
            nodes.extend(node)


def _announced_inside(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """What a member that is an archive itself unpacks to; 0 for any other."""
    with archive.open(member) as stream:
        if stream.read(2) != b"PK":
            return 0
    with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
        return announced_size(inner)
