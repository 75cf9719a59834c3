"""READ: label spaces, readers and writers, data sets by name, splits and synthetic data."""

from setwise.data.dataset import Dataset
from setwise.data.formats.bad_rows import SkippedRows
from setwise.data.formats.csv_writer import write_csv
from setwise.data.formats.read import read
from setwise.data.formats.svmlight import write_svmlight
from setwise.data.labels import DistinctSets, LabelSpace, distinct_sets
from setwise.data.registry import list_datasets, load_dataset
from setwise.data.statistics import Statistics, statistics

__all__ = [
    "Dataset",
    "DistinctSets",
    "LabelSpace",
    "SkippedRows",
    "Statistics",
    "distinct_sets",
    "list_datasets",
    "load_dataset",
    "read",
    "statistics",
    "write_csv",
    "write_svmlight",
]
