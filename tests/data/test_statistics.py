import numpy as np
import pytest

import setwise as sw
from setwise.data.statistics import statistics
from setwise.errors import DataError


def test_hand_worked_statistics_of_two_parts():
    Y_train = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0]])
    Y_test = np.array([[0, 0, 0]])
    X_train, X_test = np.array([[1.0, 0], [0, 0], [2, 3]]), np.array([[0.0, 0]])
    facts = statistics([X_train, X_test], [Y_train, Y_test])
    assert facts.n_rows == 4
    assert facts.n_features == 2
    assert facts.cardinality == 1.0
    assert facts.density == pytest.approx(1 / 3)
    assert facts.mean_label_frequency == pytest.approx(4 / 3)
    assert facts.median_label_frequency == 1
    assert facts.mode_label_frequency == 0  # frequencies 3, 1, 0: the smallest of the commonest
    assert facts.n_distinct_sets == 3
    assert facts.mean_set_frequency == pytest.approx(4 / 3)
    assert facts.unique_set_proportion == 0.5
    assert facts.n_empty_rows == 1
    assert facts.n_absent_labels == 1
    assert facts.max_set_size == 2
    assert facts.feature_sparsity == pytest.approx(5 / 8)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "published"),
    [  # Table 4 of Rubin et al. (2012), as printed there
        ("yahoo_arts", (19, 7441, "1.6", ".0855", "636", "530", 527, "14.1", ".0406")),
        ("yahoo_health", (14, 9109, "1.6", ".1149", "1047", "500", 241, "37.8", ".0113")),
    ],
)
def test_table_4_of_rubin_et_al(name, published):
    facts = sw.load_dataset(name).statistics()
    measured = (
        facts.n_labels,
        facts.n_rows,
        f"{facts.cardinality:.1f}",
        f"{facts.density:.4f}".lstrip("0"),
        f"{facts.mean_label_frequency:.0f}",
        f"{facts.median_label_frequency:.0f}",
        facts.n_distinct_sets,
        f"{facts.mean_set_frequency:.1f}",
        f"{facts.unique_set_proportion:.4f}".lstrip("0"),
    )
    assert measured == published


def test_nothing_has_no_statistics():
    for shape in ((0, 3), (2, 0)):
        with pytest.raises(DataError, match=f"{shape[0]} rows of {shape[1]} labels"):
            statistics([np.ones((shape[0], 2))], [np.zeros(shape)])


def test_an_array_of_texts_has_no_features_to_count():
    facts = statistics([np.array(["one", "two"], dtype=object)], [np.eye(2)])
    assert facts.n_features is None
    assert facts.feature_sparsity is None
