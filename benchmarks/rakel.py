"""RAkEL beside scikit-multilearn-ng's, on the same label subsets: predictions and times.

    python benchmarks/rakel.py

The peer is not needed by anything else here; install it with ``pip install scikit-multilearn-ng``.
Both are given scikit-learn's logistic regression, so that the same predictions are expected.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.linear_model import LogisticRegression

import setwise as sw


def data(n: int = 1500, d: int = 40, L: int = 12) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, L)) / 4 + random.normal(size=(n, L)) > 1).astype(int)


def main() -> None:
    try:
        from skmultilearn.cluster import FixedLabelSpaceClusterer
        from skmultilearn.ensemble import LabelSpacePartitioningClassifier, MajorityVotingClassifier
        from skmultilearn.problem_transform import LabelPowerset
    except ImportError:
        raise SystemExit("the peer is missing: pip install scikit-multilearn-ng") from None
    X, Y = data()
    disjoint = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    overlapping = [*disjoint, [0, 3, 6], [1, 4, 9], [2, 7, 10], [5, 8, 11], [0, 5, 10], [1, 6, 11]]
    overlapping += [[2, 3, 8], [4, 7, 9]]  # three subsets for each label: votes have no ties
    base = LogisticRegression(max_iter=1000)
    for subsets, classifier in (
        (disjoint, LabelSpacePartitioningClassifier),
        (overlapping, MajorityVotingClassifier),
    ):
        name = "disjoint" if subsets is disjoint else "overlapping"
        clusterer = FixedLabelSpaceClusterer(clusters=[np.array(subset) for subset in subsets])
        theirs = classifier(LabelPowerset(base), clusterer)
        ours = sw.RAkEL(
            label_sets=subsets,
            overlapping=subsets is overlapping,
            voting="votes",
            learner=base,
            target="set_accuracy" if subsets is disjoint else "hamming",
            allow_empty=True,
        )
        plain = sw.RAkEL(label_sets=subsets, overlapping=subsets is overlapping)
        seconds = []
        for model in (plain, ours, theirs):
            start = time.perf_counter()
            model.fit(X[:1000], Y[:1000])
            seconds.append(time.perf_counter() - start)
        same = np.array_equal(ours.predict(X[1000:]), theirs.predict(X[1000:]).toarray())
        print(
            f"{name:12s} fit: setwise {seconds[0]:.2f} s, by the same learner {seconds[1]:.2f} s, "
            f"scikit-multilearn-ng {seconds[2]:.2f} s; same predictions: {same}"
        )


if __name__ == "__main__":
    main()
