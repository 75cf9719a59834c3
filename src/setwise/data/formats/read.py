"""``read``: one door for every file format."""

from __future__ import annotations

from pathlib import Path

from setwise.data.dataset import Dataset
from setwise.data.formats.arff_dataset import read_arff
from setwise.data.formats.bad_rows import BadRows
from setwise.data.formats.files import StrPath, bare_suffix
from setwise.data.formats.label_columns import LabelsArgument, as_count, label_names
from setwise.data.formats.svmlight import read_svmlight_table
from setwise.data.formats.tables import read_table
from setwise.errors import DataError, FormatError

FORMATS = {
    ".arff": "arff",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".txt": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def read(
    path: StrPath,
    labels: LabelsArgument = None,
    *,
    format: str | None = None,
    features: LabelsArgument = None,
    label_separator: str = ",",
    delimiter: str | None = None,
    zero_based: bool = False,
    backend: str | None = None,
    bad_rows: str = "error",
    encoding: str = "utf-8",
) -> Dataset:
    """Read a file of examples, plain or packed by gzip, bzip2 or xz.

    Parameters
    ----------
    path : path
        An ARFF, svmlight, CSV or Parquet file.
    labels : path, list of names, int, or column name
        Which columns are labels. ARFF: a Mulan XML or a text file of names, names, or a count
        (negative: the last ones); by default the XML beside the file, or MEKA's ``-C`` option.
        svmlight: names in the order of their numbers, or how many there are. CSV and Parquet: one
        column of separated names, or the names or count of 0/1 columns.
    format : {"arff", "svmlight", "csv", "parquet"}, optional
        By default told by the suffix.
    features : path, list of names, or int, optional
        svmlight only: the names of the features, or how many there are.
    label_separator : str
        What stands between the names in a label column.
    delimiter : str, optional
        What stands between the fields of a CSV file; by default guessed from the first line.
    zero_based : bool
        svmlight only: features are counted from 0.
    backend : {"pandas", "polars"}, optional
        The library of the DataFrame that CSV and Parquet become.
    bad_rows : {"error", "skip"}
        Raise at the first row that cannot be read, or leave such rows out, count them in
        ``skipped`` and warn.
    encoding : str
        Of text files.

    Returns
    -------
    Dataset
        All rows as train, unless a MEKA header declares a split.
    """
    format = format or FORMATS.get(bare_suffix(path))
    policy = BadRows(path, bad_rows)
    if format == "arff":
        dataset = read_arff(path, labels, policy, encoding)
    elif format == "svmlight":
        dataset = _read_svmlight(path, labels, features, zero_based, policy, encoding)
    elif format in ("csv", "parquet"):
        if format == "csv" and delimiter is None and bare_suffix(path) == ".tsv":
            delimiter = "\t"
        dataset = read_table(
            path,
            labels,
            policy,
            is_parquet=format == "parquet",
            label_separator=label_separator,
            delimiter=delimiter,
            backend=backend,
            encoding=encoding,
        )
    else:
        known = ", ".join(sorted(set(FORMATS.values())))
        raise FormatError(
            path,
            f"cannot tell the format from the name (format={format!r})",
            remedy=f"pass format=, one of {known}",
        )
    policy.warn()
    return dataset


def _read_svmlight(
    path: StrPath,
    labels: LabelsArgument,
    features: LabelsArgument,
    zero_based: bool,
    bad_rows: BadRows,
    encoding: str,
) -> Dataset:
    names, n_labels = _names_or_count(labels, encoding)
    feature_names, n_features = _names_or_count(features, encoding)
    table = read_svmlight_table(
        path,
        bad_rows,
        n_features=n_features,
        n_labels=n_labels,
        zero_based=zero_based,
        encoding=encoding,
    )
    return Dataset(
        name=Path(path).name.split(".")[0],
        X_train=table.X,
        Y_train=table.Y,
        label_names=names or tuple(map(str, range(table.Y.shape[1]))),
        feature_names=feature_names,
        skipped=tuple(bad_rows.skipped),
    )


def _names_or_count(
    given: LabelsArgument, encoding: str
) -> tuple[tuple[str, ...] | None, int | None]:
    """Names with their number, a number alone, or nothing."""
    count = as_count(given)
    if count is not None and count < 0:
        raise DataError(f"svmlight files number their columns from the first; got {count}")
    names = label_names(given, encoding)
    return (tuple(names), len(names)) if names is not None else (None, count)
