"""READ: label spaces, readers and writers, data sets by name, splits and synthetic data."""

from setwise.data.dataset import Dataset
from setwise.data.formats.bad_rows import SkippedRows
from setwise.data.formats.csv_writer import write_csv
from setwise.data.formats.read import read
from setwise.data.formats.svmlight import write_svmlight
from setwise.data.labels import DistinctSets, LabelSpace, distinct_sets
from setwise.data.registry import list_datasets, load_dataset
from setwise.data.split import IterativeHoldout, IterativeKFold, holdout
from setwise.data.statistics import Statistics, statistics
from setwise.data.synthetic import SyntheticCBM, make_cbm
from setwise.data.synthetic_large import make_large

__all__ = [
    "Dataset",
    "DistinctSets",
    "IterativeHoldout",
    "IterativeKFold",
    "LabelSpace",
    "SkippedRows",
    "Statistics",
    "SyntheticCBM",
    "distinct_sets",
    "holdout",
    "list_datasets",
    "load_dataset",
    "make_cbm",
    "make_large",
    "read",
    "statistics",
    "write_csv",
    "write_svmlight",
]
