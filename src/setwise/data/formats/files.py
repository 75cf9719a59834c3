"""Bytes and text from plain or compressed files, and files that are never half written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from setwise.errors import FormatError

StrPath = str | os.PathLike[str]

#: A file that grows beyond this when unpacked is refused: it would fill the memory.
MAX_BYTES = 8 * 2**30

_CHUNK = 2**24
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_SUFFIX_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


def read_bytes(path: StrPath) -> bytes:
    """The contents of a file, unpacked if it is gzip, bzip2 or xz (told by its first bytes)."""
    if not os.path.isfile(path):
        kind = "a folder" if os.path.isdir(path) else "no such file"
        raise FormatError(path, f"{kind}, where a data file was expected", remedy="check the path")
    with open(path, "rb") as plain:
        magic = plain.read(6)
    opener = next((o for start, o in _OPENERS.items() if magic.startswith(start)), open)
    contents = io.BytesIO()  # hands out its bytes without a second copy
    try:
        with opener(path, "rb") as stream:
            while chunk := stream.read(_CHUNK):
                contents.write(chunk)
                if contents.tell() > MAX_BYTES:
                    raise FormatError(
                        path,
                        f"larger than {MAX_BYTES / 2**30:g} GiB when unpacked",
                        remedy="split the file",
                    )
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if opener is open:
            raise
        raise FormatError(
            path, f"the archive is truncated or damaged ({error})", remedy="fetch it again"
        ) from error
    return contents.getvalue()


def read_utf8(path: StrPath, encoding: str = "utf-8") -> bytes:
    r"""The contents of a text file as UTF-8 bytes without a byte-order mark; lines end in ``\n``.

    Lines that end in ``\r\n`` are left as they are; a file of ``\r`` alone is converted.
    Refuses, with a sentence, an empty file, a binary file, and text in another encoding.
    """
    contents = read_bytes(path)
    if not contents.lstrip(b"\r\n"):
        raise FormatError(path, "the file is empty", remedy="check that it was written completely")
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "ascii"):
        contents = _transcode(path, contents, encoding)
    if contents.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, "the text is UTF-16", remedy="pass encoding='utf-16'")
    if b"\0" in contents:
        raise FormatError(
            path, "this is a binary file, not text", remedy="check the path, or pass format="
        )
    if not contents.isascii():
        _check_utf8(path, contents)
    if b"\n" not in contents:
        contents = contents.replace(b"\r", b"\n")
    return contents.removeprefix(b"\xef\xbb\xbf")


def read_lines(path: StrPath, encoding: str = "utf-8") -> list[str]:
    """The lines of a short text file, such as a list of names, without blank ones at the end."""
    lines = read_utf8(path, encoding).decode().rstrip().split("\n")
    return [line.removesuffix("\r") for line in lines]


def bare_suffix(path: StrPath) -> str:
    """The suffix that tells the format: ``.arff`` for ``scene.ARFF.gz``."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _SUFFIX_OPENERS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def write_atomically(path: StrPath) -> Iterator[IO[bytes]]:
    """A binary stream whose bytes appear at ``path`` all at once, or, after an error, not at all.

    The suffix .gz, .bz2 or .xz compresses.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FormatError(path, "there is no such folder to write to", remedy="create it first")
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as plain:
            opener = _SUFFIX_OPENERS.get(path.suffix.lower())
            if opener is None:
                yield plain
            else:
                with opener(plain, "wb") as packed:
                    yield packed
            plain.flush()
            os.fsync(plain.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _transcode(path: StrPath, contents: bytes, encoding: str) -> bytes:
    try:
        return contents.decode(encoding).encode()
    except (UnicodeError, LookupError) as error:
        raise FormatError(
            path, f"the text is not {encoding} ({error})", remedy="pass another encoding="
        ) from error


def _check_utf8(path: StrPath, contents: bytes) -> None:
    try:
        contents.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            path,
            f"byte 0x{contents[error.start]:02x} is not UTF-8",
            line=contents.count(b"\n", 0, error.start) + 1,
            remedy="pass encoding=, for instance encoding='latin-1'",
        ) from None
