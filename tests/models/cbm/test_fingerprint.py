"""The same things have the same fingerprint, and others another."""

from datetime import date, timedelta

import numpy as np
import pandas as pd
from scipy import sparse

from setwise.decisions import ExpectedF1, MostLikelySet
from setwise.models.cbm.fingerprint import fingerprint


def test_fingerprints_tell_things_apart():
    X = np.arange(6.0).reshape(2, 3)
    names = [
        fingerprint(thing)
        for thing in (
            X, X.T, X.reshape(3, 2), X.astype(np.float32), sparse.csr_array(X),
            sparse.csr_array(X[:, ::-1]), X.tolist(), {"C": 1}, {"C": 1.0}, {"C": None},
            ExpectedF1(), ExpectedF1(zero_division=1.0), MostLikelySet(), "C", ["C"], [["C"]],
        )
    ]  # fmt: skip
    assert len(set(names)) == len(names)
    assert fingerprint(sparse.csr_array(X)) == fingerprint(sparse.csr_matrix(X))
    assert fingerprint(X, ExpectedF1()) == fingerprint(X.copy(), ExpectedF1())


def test_fingerprints_tell_dates_apart():
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")
    later = days + 1
    names = [
        fingerprint(thing)
        for thing in (
            days, later, days.astype("datetime64[s]"), days - days[0], days.astype(np.int64),
            date(2026, 1, 1), date(2026, 1, 2), timedelta(1), timedelta(2),
            pd.to_datetime(days).to_numpy(dtype=object), pd.to_datetime(later).to_numpy(object),
        )
    ]  # fmt: skip
    assert len(set(names)) == len(names)
    assert fingerprint(days) == fingerprint(days.copy())
    assert fingerprint(days[::-1]) == fingerprint(days[::-1].copy())
