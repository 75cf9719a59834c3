"""``setwise warmup``: compile every kernel once, so that no later call has to wait for it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from setwise.data import IterativeKFold, read


def compile_everything(console: Console) -> None:
    """Call every compiled kernel on a few bytes, and say how long it took."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, console.status("compiling kernels"):
        arff, svmlight = Path(folder, "tiny.arff"), Path(folder, "tiny.svm")
        arff.write_text("@relation tiny\n@attribute x numeric\n@attribute y {0,1}\n@data\n1,1\n")
        svmlight.write_text("0 1:1\n")
        read(arff, labels=-1)
        read(svmlight)
        Y = np.eye(4, 2, dtype=np.int8)
        for groups in (None, [0, 1, 2, 3]):
            list(IterativeKFold(2).split(None, Y, groups))
    console.print(f"all kernels compiled or loaded in {time.perf_counter() - start:.1f} s")
