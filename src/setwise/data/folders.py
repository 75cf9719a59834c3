"""A folder of files as one data set, told by the names of the files in it.

    NAME-train.arff, NAME-test.arff, NAME.xml           Mulan
    NAME-train.svm, NAME-test.svm, labels.txt, ...      multi-label svmlight
    one ARFF file                                       MEKA, or labels= given
    *Split01.mat, *Split02.mat, ...                     token streams, one file a split
    train.tsv, dev.tsv, test.tsv, labels.txt            raw text

Files may be compressed. Beside svmlight files, ``vocabulary.txt`` names the features,
``names-train.txt`` the rows and ``sources-train.txt`` the group of each row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from setwise.data.dataset import Dataset, joined
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import read_lines
from setwise.data.formats.label_columns import LabelsArgument
from setwise.data.formats.read import read
from setwise.data.formats.tagged_text import read_tagged_text
from setwise.data.formats.token_streams import read_token_streams
from setwise.errors import DataError, FormatError


def load_folder(
    folder: Path, *, split: int | None = None, labels: LabelsArgument = None
) -> Dataset:
    """The data set in a folder, under the folder's name, with its published split.

    ``split`` picks one of several published splits, counted from 0; ``labels`` says which columns
    of a lone ARFF file are labels.
    """
    splits = sorted(folder.glob("*Split[0-9]*.mat"))
    if splits:
        return _one_of_several(folder, splits, split or 0)
    if split is not None:
        raise DataError(f"{folder.name} has one published split, not several; leave out split=")
    loaders: list[tuple[str, Callable[[Path], Dataset]]] = [
        (f"{folder.name}-train.arff*", _load_arff_pair),
        (f"{folder.name}-train.svm*", _load_svmlight_pair),
        ("train.tsv", _load_tagged_text),
        ("*.arff*", lambda lone: read(lone, labels)),
    ]
    for pattern, load in loaders:
        found = sorted(folder.glob(pattern))
        if found:
            return replace(load(found[0]), name=folder.name)
    raise FormatError(
        folder,
        "no file here that setwise knows how to read",
        remedy=f"name the files {folder.name}-train.arff and so on, or use setwise.read",
    )


def _one_of_several(folder: Path, files: list[Path], split: int) -> Dataset:
    if not 0 <= split < len(files):
        raise DataError(f"{folder.name} has splits 0 to {len(files) - 1}, got split={split}")
    return replace(read_token_streams(files[split]), name=folder.name)


def _load_arff_pair(train_file: Path) -> Dataset:
    test_file = _counterpart(train_file)
    train = read(train_file)
    return joined(train, read(test_file)) if test_file is not None else train


def _load_svmlight_pair(train_file: Path) -> Dataset:
    folder = train_file.parent
    labels = _beside(folder, "labels.txt")
    vocabulary = _beside(folder, "vocabulary.txt")
    parts = {}
    for part, file in (("train", train_file), ("test", _counterpart(train_file))):
        if file is not None:
            dataset = read(file, labels, features=vocabulary)
            names, groups = (_beside(folder, f"{kind}-{part}.txt") for kind in ("names", "sources"))
            parts[part] = replace(
                dataset,
                row_names_train=tuple(read_lines(names)) if names else None,
                groups_train=np.array(read_lines(groups)) if groups else None,
            )
    width = max(part.X_train.shape[1] for part in parts.values())
    wide = {part: replace(d, X_train=_widened(d.X_train, width)) for part, d in parts.items()}
    return joined(wide["train"], wide["test"]) if "test" in wide else wide["train"]


def _load_tagged_text(train_file: Path) -> Dataset:
    label_names = read_lines(train_file.with_name("labels.txt"))

    def part(name: str) -> Dataset:
        file = train_file.with_name(name)
        return read_tagged_text(file, label_names, BadRows(file))

    dev = part("dev.tsv")
    both = joined(part("train.tsv"), part("test.tsv"))
    return replace(both, X_val=dev.X_train, Y_val=dev.Y_train)


def _counterpart(train_file: Path) -> Path | None:
    """The test file that belongs to a train file, if there is one."""
    test_file = train_file.with_name(train_file.name.replace("-train.", "-test.", 1))
    return test_file if test_file.is_file() else None


def _beside(folder: Path, name: str) -> Path | None:
    return folder / name if (folder / name).is_file() else None


def _widened(X: sparse.csr_array, width: int) -> sparse.csr_array:
    """The same matrix with empty columns added: a part need not use the last features."""
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
