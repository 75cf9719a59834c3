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
from setwise.data.formats.files import bare_suffix, read_lines
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
        ("train.tsv*", _load_tagged_text),
        ("*.arff*", lambda lone: read(lone, labels)),
    ]
    for pattern, load in loaders:
        found = sorted(folder.glob(pattern))
        if len(found) > 1:
            raise FormatError(
                folder,
                f"{found[0].name} or {found[1].name}? Only one file can be {pattern}",
                remedy=f"keep one, name two parts {folder.name}-train and {folder.name}-test, "
                "or use setwise.read",
            )
        if found:
            return replace(load(found[0]), name=folder.name)
    raise FormatError(
        folder,
        "no file here that setwise knows how to read",
        remedy=f"name the files {folder.name}-train.arff and so on, or use setwise.read",
    )


def _one_of_several(folder: Path, files: list[Path], split: int) -> Dataset:
    if not isinstance(split, int | np.integer) or not 0 <= split < len(files):
        raise DataError(f"{folder.name} has splits 0 to {len(files) - 1}, got split={split!r}")
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
    return _as_wide_as_each_other(parts["train"], parts.get("test"))


def _load_tagged_text(train_file: Path) -> Dataset:
    folder = train_file.parent
    label_names = read_lines(_beside(folder, "labels.txt") or folder / "labels.txt")
    dataset = read_tagged_text(train_file, label_names, BadRows(train_file))
    test_file, dev_file = _beside(folder, "test.tsv"), _beside(folder, "dev.tsv")
    if test_file is not None:
        dataset = joined(dataset, read_tagged_text(test_file, label_names, BadRows(test_file)))
    if dev_file is not None:
        dev = read_tagged_text(dev_file, label_names, BadRows(dev_file))
        dataset = replace(dataset, X_val=dev.X_train, Y_val=dev.Y_train)
    return dataset


def _counterpart(train_file: Path) -> Path | None:
    """The test file that belongs to a train file, if there is one."""
    stem = train_file.name.split("-train.")[0]
    return _beside(train_file.parent, f"{stem}-test{bare_suffix(train_file)}")


def _beside(folder: Path, name: str) -> Path | None:
    """The file of that name in the folder, plain or compressed, if there is one."""
    files = (folder / f"{name}{packed}" for packed in ("", ".gz", ".bz2", ".xz"))
    return next((file for file in files if file.is_file()), None)


def _as_wide_as_each_other(train: Dataset, test: Dataset | None) -> Dataset:
    """The two parts as one, with empty columns added: a part need not use the last of them."""
    if test is None:
        return train
    n_features = max(train.X_train.shape[1], test.X_train.shape[1])
    names = max(train.label_names, test.label_names, key=len)
    wide = [
        replace(
            part,
            X_train=_widened(part.X_train, n_features),
            Y_train=_widened(part.Y_train, len(names)),
            label_names=names,
        )
        for part in (train, test)
    ]
    return joined(*wide)


def _widened(X: sparse.csr_array, width: int) -> sparse.csr_array:
    return sparse.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
