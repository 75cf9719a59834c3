"""setwise: predict sets of labels, and say how likely the whole set is right.

>>> import setwise as sw
>>> ds = sw.load_dataset("debtags")
>>> round(ds.statistics().cardinality, 2)
3.63
"""

from setwise import metrics
from setwise.data import (
    Dataset,
    IterativeHoldout,
    IterativeKFold,
    LabelSpace,
    holdout,
    list_datasets,
    load_dataset,
    read,
    write_csv,
    write_svmlight,
)

__version__ = "0.1.0"

__all__ = [
    "Dataset",
    "IterativeHoldout",
    "IterativeKFold",
    "LabelSpace",
    "__version__",
    "holdout",
    "list_datasets",
    "load_dataset",
    "metrics",
    "read",
    "write_csv",
    "write_svmlight",
]
