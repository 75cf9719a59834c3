"""Fitted objects as one file that cannot run code.

A file is a zip archive: ``manifest.json`` describes a tree of plain values and of objects of known
classes, and each array is a member in numpy's own format. Nothing in it is pickled. A class takes
part by the decorator ``storable``; of its objects, the constructor's parameters and the fitted
attributes (names that end in ``_`` and do not begin with one) are stored, and nothing else.
"""

from __future__ import annotations

import inspect
import io
import json
import lzma
import re
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import isfinite, prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from setwise.data.formats.files import MAX_BYTES, StrPath, bare_suffix, write_atomically
from setwise.errors import FormatError, StorageError

FORMAT, VERSION = "setwise", 1


class TooLarge(StorageError):
    """What a file unpacks to would fill the memory."""


class Room:
    """How many bytes may still be unpacked from one file, archives inside it included."""

    def __init__(self, taken: int = 0) -> None:
        self._left = MAX_BYTES
        self.take(taken)

    def take(self, size: int) -> None:
        """Count ``size`` bytes; a sentence where they are too many."""
        self._left -= size
        if self._left < 0:
            raise TooLarge(f"larger than {MAX_BYTES / 2**30:g} GiB when unpacked")


@dataclass(frozen=True)
class Foreign:
    """A way to store objects of another library that cannot run code either."""

    matches: Callable[[Any], bool]
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes, Room], Any]  # takes room for what it unpacks further


_CLASSES: dict[str, type] = {}
_FOREIGN: list[Foreign] = []
# Where storable classes are, what takes longer to import last. Names that stand here, and none that
# a file could bring along, are imported.
_HOMES = ("setwise.models", "setwise.calibration", "setwise.pipeline")
_FITTED = re.compile(r"[A-Za-z][A-Za-z0-9_]*_")
_SIGNS_OF_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError),  # in the archive
    *(NotImplementedError, RuntimeError),  # an unknown or encrypted member, endless nesting
    *(LookupError, ValueError, TypeError, AttributeError, OverflowError),  # in the manifest
    *(SyntaxError, tokenize.TokenError, MemoryError),  # in the header of an array
)
_Class = TypeVar("_Class", bound=type)


def storable(cls: _Class) -> _Class:
    """Let objects of this class be stored, under the class's name."""
    _CLASSES[cls.__name__] = cls
    return cls


def is_storable(thing: Any) -> bool:
    """Whether a thing is of a class that takes part."""
    return _CLASSES.get(type(thing).__name__) is type(thing)


def fitted_attributes(thing: Any) -> dict[str, Any]:
    """What an object has learnt: the attributes that are stored besides its parameters."""
    return {name: value for name, value in vars(thing).items() if _FITTED.fullmatch(name)}


def store_foreign(way: Foreign) -> None:
    """Let objects of another library be stored in this way."""
    _FOREIGN[:] = [way]


def save(thing: Any, path: StrPath) -> None:
    """Write an object of a storable class, all at once or not at all."""
    check_target(path)
    arrays: list[np.ndarray] = []
    manifest = {"format": FORMAT, "version": VERSION, "root": _encoded(thing, arrays, "the object")}
    with (
        write_atomically(path) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file,
    ):
        file.writestr("manifest.json", json.dumps(manifest))
        for number, array in enumerate(arrays):
            with file.open(f"{number}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def check_target(path: StrPath) -> None:
    """Refuse a path that no archive can be written to."""
    if Path(path).is_dir():
        raise FormatError(path, "a folder, not a file to write to", remedy="add a file name")
    if bare_suffix(path) != Path(path).suffix.lower():
        raise FormatError(
            path, "the file is packed already", remedy="choose a path with another suffix"
        )


def load(path: StrPath) -> Any:
    """The object that ``save`` wrote; a damaged, foreign or newer file gets a sentence."""
    try:
        with zipfile.ZipFile(path) as file:
            room = Room(announced_size(file))
            manifest = json.loads(_contents(file, "manifest.json"))
            _check_version(path, manifest)
            return _decoded(manifest["root"], _Members(file, room))
    except FileNotFoundError:
        raise FormatError(path, "no such file", remedy="check the path") from None
    except TooLarge as error:
        raise FormatError(path, str(error), remedy="save a smaller model") from None
    except (FormatError, StorageError):
        raise
    except _SIGNS_OF_DAMAGE as error:
        raise FormatError(
            path,
            f"not a complete setwise file ({type(error).__name__}: {error})",
            remedy="save the model again",
        ) from error


def announced_size(file: zipfile.ZipFile) -> int:
    """What the members of an archive unpack to, by its own list.

    A reader of a stored or deflated member that asks for so many bytes never unpacks more, whatever
    is in there; the other methods unpack first and count later, so they are refused.
    """
    for member in file.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile(f"compression method {member.compress_type}")
    return sum(member.file_size for member in file.infolist())


def _contents(file: zipfile.ZipFile, name: str) -> bytes:
    """A member, of which no more is unpacked than the archive announces."""
    member = file.getinfo(name)
    with file.open(member) as stream:
        return stream.read(member.file_size)


def _check_version(path: StrPath, manifest: Any) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FormatError(path, "not a setwise file", remedy="pass a file that .save() wrote")
    if manifest.get("version") != VERSION:
        raise FormatError(
            path,
            f"written in format {manifest.get('version')}, this setwise reads format {VERSION}",
            remedy="upgrade setwise: pip install --upgrade setwise",
        )


def _encoded(value: Any, arrays: list[np.ndarray], place: str) -> Any:
    """``value`` as JSON, its arrays moved to ``arrays``; ``place`` names it in errors."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_encoded(v, arrays, f"{place}[{i}]") for i, v in enumerate(value)]}
    if isinstance(value, dict):
        return {
            "dict": [[_encoded(part, arrays, place) for part in item] for item in value.items()]
        }
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.ndarray) and all(isinstance(word, str) for word in value.flat):
        return {"words": value.ravel().tolist(), "shape": list(value.shape)}
    if sparse.issparse(value):
        csr = sparse.csr_array(value)
        parts = [_encoded(part, arrays, place) for part in (csr.data, csr.indices, csr.indptr)]
        return {"csr": parts, "shape": list(csr.shape)}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"dtype": np.dtype(value).name}
    if is_storable(value):
        return _encoded_object(value, arrays, place)
    for way in _FOREIGN:
        if way.matches(value):
            arrays.append(np.frombuffer(way.to_bytes(value), dtype=np.uint8))
            return {"foreign": len(arrays) - 1}
    raise StorageError(
        f"{place} is of type {type(value).__module__}.{type(value).__qualname__}, which cannot be "
        "stored safely; use setwise's own learners, or an integer as random_state"
    )


def _encoded_object(thing: Any, arrays: list[np.ndarray], place: str) -> Any:
    parameters = {name: getattr(thing, name) for name in _parameter_names(type(thing))}
    fitted = fitted_attributes(thing)
    name = type(thing).__name__
    encode = {
        kind: {key: _encoded(v, arrays, f"{name}.{key}") for key, v in values.items()}
        for kind, values in (("parameters", parameters), ("fitted", fitted))
    }
    return {"object": name, **encode}


def _parameter_names(cls: type) -> list[str]:
    return list(inspect.signature(cls).parameters)


class _Members:
    """The arrays of an archive, each read when it is asked for, and once."""

    def __init__(self, file: zipfile.ZipFile, room: Room) -> None:
        self._file, self.room = file, room
        self._unread = set(file.namelist())

    def __getitem__(self, number: int) -> np.ndarray:
        name = f"{int(number)}.npy"
        # Asked for again and again, a small file would fill the memory.
        self._unread.remove(name)
        contents = _contents(self._file, name)
        _check_length(contents)
        array: np.ndarray = np.lib.format.read_array(io.BytesIO(contents), allow_pickle=False)
        return array


def _check_length(contents: bytes) -> None:
    """Refuse an array whose header announces more than there is: numpy would make room for it."""
    stream = io.BytesIO(contents)
    version = np.lib.format.read_magic(stream)
    formats = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    shape, _, dtype = formats[version](stream)
    if dtype.itemsize == 0 and 0 not in shape:
        raise ValueError(f"an array of {dtype}")
    if prod(shape) * dtype.itemsize != len(contents) - stream.tell():
        raise ValueError(f"an array of shape {shape} and {dtype} in {len(contents)} bytes")


def _decoded(node: Any, members: _Members) -> Any:
    if not isinstance(node, dict):
        return node
    if "float" in node:
        return float(node["float"])
    if "list" in node:
        return [_decoded(part, members) for part in node["list"]]
    if "tuple" in node:
        return tuple(_decoded(part, members) for part in node["tuple"])
    if "dict" in node:
        return {_decoded(k, members): _decoded(v, members) for k, v in node["dict"]}
    if "array" in node:
        return members[node["array"]]
    if "foreign" in node:
        (way,) = _FOREIGN
        return way.from_bytes(members[node["foreign"]].tobytes(), members.room)
    if "words" in node:
        words = [str(word) for word in node["words"]]
        return np.array(words, dtype=object).reshape(tuple(node["shape"]))
    if "csr" in node:
        data, indices, indptr = (_decoded(part, members) for part in node["csr"])
        matrix = sparse.csr_array((data, indices, indptr), shape=tuple(node["shape"]))
        matrix.check_format(full_check=True)
        return matrix
    if "dtype" in node:
        return np.dtype(node["dtype"]).type
    return _decoded_object(node, members)


def _decoded_object(node: dict[str, Any], members: _Members) -> Any:
    cls = _class_named(node["object"])
    parameters = {name: _decoded(v, members) for name, v in node["parameters"].items()}
    thing = cls(**parameters)
    for name, value in node["fitted"].items():
        if not _FITTED.fullmatch(name) or hasattr(cls, name):
            raise StorageError(f"{name!r} is no fitted attribute of {node['object']}")
        setattr(thing, name, _decoded(value, members))
    return thing


def _class_named(name: str) -> type:
    """The class of that name; setwise's own are imported where nobody has done so yet."""
    for home in _HOMES:
        if name not in _CLASSES:
            import_module(home)
    if name not in _CLASSES:
        raise StorageError(
            f"the file holds a {name!r}, which this setwise does not know; "
            "upgrade setwise, or import the module that defines it"
        )
    return _CLASSES[name]
