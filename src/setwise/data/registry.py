"""Data sets by name: bundled, in ``$SETWISE_DATA``, or fetched from OpenML and cached."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from setwise.data import openml
from setwise.data.dataset import Dataset
from setwise.data.folders import load_folder
from setwise.errors import DataError, DatasetNotFound

DATA_VARIABLE = "SETWISE_DATA"

_BUNDLED = Path(__file__).parent / "bundled"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Known:
    """What is known of a data set without reading it; a test holds each number to the data."""

    about: str
    n_rows: int
    n_features: int | None
    n_labels: int
    cardinality: float
    n_distinct_sets: int
    n_train: int
    n_test: int | None  # None: no published split
    labels: int | None = None  # where the file itself does not say which columns are labels


KNOWN: dict[str, Known] = {
    "bibtex": Known("bibliography entries, words", 7395, 1836, 159, 2.40, 2856, 4880, 2515),
    "corel5k": Known("images, region words", 5000, 499, 374, 3.52, 3175, 4500, 500),
    "debtags": Known("Debian packages, words", 23666, 7149, 507, 3.63, 7164, 17856, 5810),
    "delicious": Known("web pages, words", 16105, 500, 983, 19.02, 15806, 12920, 3185),
    "emotions": Known("music, audio features", 593, 72, 6, 1.87, 27, 391, 202),
    "enron": Known("e-mails, words", 1702, 1001, 53, 3.38, 753, 1123, 579),
    "flags": Known("flags, shapes and countries", 194, 19, 7, 3.39, 54, 129, 65),
    "goemotions": Known("comments, raw text", 54263, None, 28, 1.18, 782, 43410, 5427),
    "imdb": Known("film plots, words", 120919, 1001, 28, 2.00, 4503, 120919, None),
    "mediamill_small": Known(
        "video, visual features", 2500, 120, 101, 4.35, 938, 2500, None, labels=-101
    ),
    "medical": Known("radiology reports, words", 978, 1449, 45, 1.25, 94, 333, 645),
    "meka_music": Known("music, audio features", 592, 71, 6, 1.87, 27, 592, None),
    "ohsumed": Known("medical abstracts, words", 13929, 1002, 23, 1.66, 1147, 6965, 6964),
    "rcv1sub1": Known("news, tf-idf", 6000, 47236, 100, 2.87, 775, 3000, 3000),
    "scene": Known("images, colour features", 2407, 294, 6, 1.07, 15, 1211, 1196),
    "stackex_cooking": Known(
        "questions on cooking, words", 10491, 577, 400, 2.22, 6386, 7343, 3148
    ),
    "tmc2007": Known("flight reports, words", 28596, 500, 22, 2.16, 1341, 21519, 7077),
    "yahoo_arts": Known("web pages, words", 7441, 17973, 19, 1.62, 527, 1000, 6441),
    "yahoo_health": Known("web pages, words", 9109, 18430, 14, 1.61, 241, 1000, 8109),
    "yeast": Known("genes, micro-array", 2417, 103, 14, 4.24, 198, 1500, 917),
}


def load_dataset(
    name: str, *, split: int | None = None, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """The data set of that name, with its published split.

    Parameters
    ----------
    name : str
        ``debtags`` comes with the package. Other names are folders of ``data_home``, in any of the
        layouts of ``setwise.data.folders``. A name found in neither place is looked up on OpenML,
        fetched and cached, unless ``$SETWISE_OPENML`` is ``off``.
    split : int, optional
        Which of several published splits, from 0 (the yahoo sets have five).
    data_home : path, optional
        By default ``$SETWISE_DATA``.

    Examples
    --------
    >>> load_dataset("debtags")
    Dataset('debtags': train 17,856, test 5,810 rows, 507 labels)
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DataError(f"a data set's name has letters, digits and . _ -, got {name!r}")
    folder = find_folder(name, data_home)
    known = KNOWN.get(name)
    if folder is not None:
        dataset = load_folder(folder, split=split, labels=known.labels if known else None)
        return replace(dataset, description=known.about if known else "")
    if split is not None:
        raise DataError(f"{name} was not found locally, so it has no split={split}")
    try:
        return openml.load(name)
    except openml.NotOnOpenML as reason:
        places = "the bundled data, " + _describe_home(data_home)
        raise DatasetNotFound(
            f"there is no data set {name!r} in {places} or on OpenML ({reason}); "
            f"here are: {', '.join(list_datasets(data_home))}"
        ) from None


def list_datasets(data_home: str | os.PathLike[str] | None = None) -> list[str]:
    """The names that ``load_dataset`` finds on this machine."""
    folders = [_BUNDLED]
    home = _home(data_home)
    if data_home is not None and not Path(data_home).expanduser().is_dir():
        raise DataError(f"{data_home} is not a folder; pass the one that holds the data sets")
    if home is not None and home.is_dir():
        folders.append(home)
    names = {path.name for folder in folders for path in folder.iterdir() if path.is_dir()}
    return sorted({name for name in names if _NAME.fullmatch(name)} | set(openml.cached_names()))


def find_folder(name: str, data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder that holds a data set, if it is on this machine."""
    home = _home(data_home)
    candidates = [_BUNDLED / name] + ([home / name] if home is not None else [])
    return next((folder for folder in candidates if folder.is_dir()), None)


def _home(data_home: str | os.PathLike[str] | None) -> Path | None:
    home = data_home or os.environ.get(DATA_VARIABLE)
    return Path(home).expanduser() if home else None


def _describe_home(data_home: str | os.PathLike[str] | None) -> str:
    home = _home(data_home)
    return str(home) if home is not None else f"${DATA_VARIABLE} (which is not set)"
