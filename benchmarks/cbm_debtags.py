"""507 labels of Debian packages, beside scikit-learn: ``python benchmarks/cbm_debtags.py``.

A conditional Bernoulli mixture and scikit-learn's one-vs-rest over liblinear are fitted to the same
tf-idf features in one process, with two threads each, and measured on the same test rows.
"""

from __future__ import annotations

import warnings
from time import perf_counter

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import setwise as sw
from setwise.data import load_dataset
from setwise.decisions import decision_for
from setwise.experiments.entries import ENTRIES
from setwise.experiments.measuring import prepared


def main() -> None:
    """Fit both, print both."""
    warnings.simplefilter("ignore")
    data = prepared(ENTRIES["cbm-debtags"], load_dataset("debtags"))
    Y, truth = (data.labels.encode(part) for part in (data.Y_train, data.Y_test))
    sw.CBM(3, max_iter=1).fit(data.X_train[:500], Y[:500])  # compile
    begin = perf_counter()
    model = sw.CBM(60, C=30.0, random_state=0).fit(data.X_train, Y)
    ours = perf_counter() - begin
    dist = model.predict_dist(data.X_test)
    accuracy = sw.metrics.set_accuracy(truth, dist.mode()[0])
    f1 = sw.metrics.f1(truth, decision_for("f1").decide(dist))
    print(f"CBM, K = 60: {ours:.1f} s, set accuracy {accuracy:.3f}, F1 {f1:.3f}", flush=True)
    X, X_test = (sparse.csr_matrix(part) for part in (data.X_train, data.X_test))
    begin = perf_counter()
    liblinear = LogisticRegression(solver="liblinear", C=10)
    theirs_model = OneVsRestClassifier(liblinear, n_jobs=2).fit(X, Y.toarray().astype(int))
    theirs = perf_counter() - begin
    predicted = np.asarray(theirs_model.predict(X_test))
    accuracy, f1 = (getattr(sw.metrics, name)(truth, predicted) for name in ("set_accuracy", "f1"))
    print(f"one-vs-rest, liblinear: {theirs:.1f} s, set accuracy {accuracy:.3f}, F1 {f1:.3f}")
    print(f"ratio {theirs / ours:.2f} (to reach 1)")


if __name__ == "__main__":
    main()
