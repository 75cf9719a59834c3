"""BOOMER, in an environment of its own: ``$SETWISE_BOOMER_PYTHON`` names its Python.

Rows travel in files. One fit of 5,000 rules for the non-decomposable logistic loss serves both of
its predictors: example-wise, and for F1 its own GFM. What it learns does not depend on them.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from setwise.data.labels import as_binary_csr
from setwise.errors import MissingDependency

VARIABLE = "SETWISE_BOOMER_PYTHON"
EXAMPLE_WISE, GFM = PREDICTORS = ("example-wise", "gfm")
_SCRIPT = """
import json, sys
from time import perf_counter
import numpy as np
from scipy import sparse
from mlrl.boosting import BoomerClassifier
folder, seed, rules, *predictors = sys.argv[1:]
def rows(name):
    try:
        return sparse.csr_matrix(sparse.load_npz(f"{folder}/{name}.npz"))
    except (OSError, ValueError):
        return np.load(f"{folder}/{name}.npy")
model = BoomerClassifier(
    max_rules=int(rules), loss="logistic-non-decomposable", binary_predictor=predictors[0],
    random_state=int(seed) + 1,
)
start = perf_counter()
model.fit(rows("X"), np.load(f"{folder}/Y.npy"))
seconds = {"fit": perf_counter() - start}
for predictor in predictors:
    model.binary_predictor = predictor
    start = perf_counter()
    found = model.predict(rows("X_test"))
    seconds["predict"] = seconds.get("predict", 0) + (perf_counter() - start) / len(predictors)
    found = found.toarray() if sparse.issparse(found) else np.asarray(found)
    np.save(f"{folder}/{predictor}.npy", found.astype(np.int8))
print(json.dumps(seconds))
"""


class Boomer(BaseEstimator):  # type: ignore[misc]
    """Learns when it is asked to predict, as both happen in one call of the other Python.

    Attributes
    ----------
    seconds_ : dict, "fit" and "predict" -> seconds by the other's clock, once it has predicted; of
        predictions the mean of both predictors
    """

    def __init__(self, n_rules: int = 5000, random_state: int = 0) -> None:
        self.n_rules = n_rules
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Self:
        """Only keep the rows, once it is clear that there is a BOOMER to teach."""
        python = os.environ.get(VARIABLE)
        if not python:
            raise MissingDependency(
                f"BOOMER runs in an environment of its own; set ${VARIABLE} to the Python of one "
                "that has mlrl-boomer"
            )
        self.python_, self.X_, self.Y_ = python, X, as_binary_csr(Y).toarray()
        self.seconds_: dict[str, float] = {}
        self._asked: Any = None
        return self

    def predict_for(self, X: Any, target: str) -> np.ndarray:
        """Sets, 0/1 (n, L); asked again for the same rows, it does not learn again."""
        if self._asked is not X:
            self._told = self._run(X)
            self._asked = X
        return self._told[GFM if target == "f1" else EXAMPLE_WISE]

    def _run(self, X: Any) -> dict[str, np.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            _save(place / "X", self.X_)
            _save(place / "X_test", X)
            np.save(place / "Y.npy", self.Y_.astype(np.uint8))
            script = place / "run.py"
            script.write_text(_SCRIPT)
            arguments = (folder, str(self.random_state), str(self.n_rules), *PREDICTORS)
            done = subprocess.run(
                [self.python_, str(script), *arguments], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise MissingDependency(f"BOOMER failed: {done.stderr.strip()[-500:]}")
            self.seconds_ = json.loads(done.stdout.splitlines()[-1])
            return {name: np.load(place / f"{name}.npy") for name in PREDICTORS}


def _save(path: Path, X: Any) -> None:
    if sparse.issparse(X):
        sparse.save_npz(path.with_suffix(".npz"), sparse.csr_matrix(X.astype(np.float32)))
    else:
        np.save(path.with_suffix(".npy"), np.asarray(X, dtype=np.float32))
