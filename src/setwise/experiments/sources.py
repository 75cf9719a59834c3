"""Where the rows of an experiment come from: a data set by name, or a user's own by path.

``FOLDER`` is a folder in any layout of ``setwise.data.folders``. ``FILE@LABELS`` is a file that
``setwise.read`` reads; LABELS names the label columns, separated by commas, or counts them.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from setwise.data import Dataset, load_dataset, read
from setwise.data.folders import load_folder
from setwise.data.registry import DATA_VARIABLE
from setwise.errors import DataError


def is_path(name: str) -> bool:
    """Whether a data set is told by its place on disk rather than by its name.

    >>> is_path("scene"), is_path("./scene"), is_path("tickets.csv@tags")
    (False, True, True)
    """
    return "@" in name or os.sep in name or name.startswith(".")


def load(name: str, split: int | None = None) -> Dataset:
    """The data set; the last ones stay in memory, as many runs in a row need the same."""
    return _load(name, split, version_of(name))


def version_of(name: str) -> str:
    """What tells data of one name apart within this process."""
    return stamp(name) or os.environ.get(DATA_VARIABLE, "")


def stamp(name: str) -> str:
    """What tells a user's data from other data at the same place: size and time of its files."""
    if not is_path(name):
        return ""
    path = Path(_parts(name)[0]).expanduser()
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    told = [(file.name, file.stat()) for file in files if file.is_file()]
    return ";".join(f"{file} {about.st_size} {about.st_mtime_ns}" for file, about in told)


def shown(name: str) -> str:
    """The name of a data set in tables.

    >>> shown("./data/tickets.csv@tags")
    'tickets'
    """
    return Path(_parts(name)[0]).name.split(".")[0] if is_path(name) else name


@lru_cache(maxsize=2)
def _load(name: str, split: int | None, version: str) -> Dataset:
    if not is_path(name):
        return load_dataset(name) if split is None else load_dataset(name, split=split)
    place, labels = _parts(name)
    path = Path(place).expanduser()
    if path.is_dir():
        return load_folder(path, split=split)
    if not path.is_file():
        raise DataError(f"there is no file or folder {place}; check --data")
    return read(path, _label_argument(labels))


def _parts(name: str) -> tuple[str, str]:
    place, _, labels = name.rpartition("@") if "@" in name else (name, "", "")
    return place, labels


def _label_argument(text: str) -> str | int | list[str] | None:
    if not text:
        return None
    if text.lstrip("-").isdigit():
        return int(text)
    names = text.split(",")
    return names if len(names) > 1 else text
