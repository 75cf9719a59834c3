import numpy as np
import pytest

import setwise as sw
from setwise.data.dataset import Dataset
from setwise.errors import DataError, FormatError


def test_a_format_that_the_name_does_not_tell_can_be_given(write):
    path = write("data.weird", "0 1:1\n")
    with pytest.raises(FormatError, match="cannot tell the format.*one of arff, csv, parquet"):
        sw.read(path)
    assert sw.read(path, format="svmlight").X_train.shape == (1, 1)
    with pytest.raises(FormatError, match="format='excel'"):
        sw.read(path, format="excel")


def test_rows_of_features_and_labels_must_agree():
    with pytest.raises(DataError, match="X_train has 2 rows but Y_train has 1"):
        Dataset("x", np.ones((2, 1)), np.ones((1, 1)), ("a",))
    with pytest.raises(DataError, match="1 label columns but there are 2 label names"):
        Dataset("x", np.ones((1, 1)), np.ones((1, 1)), ("a", "b"))


@pytest.mark.data
def test_one_data_set_in_two_formats_is_the_same(tmp_path):
    """Mulan's ARFF, written as svmlight and as CSV, comes back as it was."""
    emotions = sw.load_dataset("emotions")
    sw.write_svmlight(tmp_path / "e.svm", emotions.X_train, emotions.Y_train)
    sw.write_csv(
        tmp_path / "e.csv",
        emotions.X_train,
        emotions.Y_train,
        feature_names=emotions.feature_names,
        label_names=emotions.label_names,
    )
    svmlight = sw.read(tmp_path / "e.svm", labels=emotions.label_names, features=72)
    table = sw.read(tmp_path / "e.csv", labels=emotions.label_names)
    np.testing.assert_array_equal(svmlight.X_train.toarray(), emotions.X_train)
    np.testing.assert_array_equal(table.X_train.to_numpy(), emotions.X_train)
    np.testing.assert_array_equal(svmlight.Y_train.toarray(), emotions.Y_train)
    np.testing.assert_array_equal(table.Y_train, emotions.Y_train)
    assert table.feature_names == emotions.feature_names
