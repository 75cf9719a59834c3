import numpy as np
import pytest
from scipy.io import savemat

from setwise.data.formats.token_streams import read_token_streams
from setwise.errors import FormatError


def save(path, words=("apple", "pear"), **changes):
    words = np.array(words, dtype=object)
    labels = np.array(["fruit", "tree"], dtype=object)
    part = {"widx": [1, 1, 2], "wdidx": [1, 1, 2], "cidx": [1, 2, 2], "cdidx": [1, 1, 2]}
    contents = {"traindata": part | changes, "testdata": part, "wlabels": words, "clabels": labels}
    savemat(path, contents)
    return path


def test_tokens_become_counts(tmp_path):
    ds = read_token_streams(save(tmp_path / "x.mat"))
    np.testing.assert_array_equal(ds.X_train.toarray(), [[2, 0], [0, 1]])
    np.testing.assert_array_equal(ds.Y_test.toarray(), [[1, 1], [0, 1]])
    assert ds.feature_names == ("apple", "pear")
    assert ds.label_names == ("fruit", "tree")


def test_ids_out_of_range_get_a_sentence(tmp_path):
    with pytest.raises(FormatError, match="widx must lie between 1 and 2"):
        read_token_streams(save(tmp_path / "x.mat", widx=[1, 1, 3]))
    with pytest.raises(FormatError, match="cidx must lie between 1 and 2"):
        read_token_streams(save(tmp_path / "x.mat", cidx=[0, 1, 2]))


def test_one_word_in_a_thousand_may_lack_a_name(tmp_path):
    many = np.array([f"w{i}" for i in range(1000)], dtype=object)
    ds = read_token_streams(save(tmp_path / "x.mat", words=many, widx=[1, 1, 1001]))
    assert ds.X_train.shape == (2, 1001)
    assert ds.X_train[1, 1000] == 1
    assert ds.feature_names[-2:] == ("w999", "unnamed word 1001")
    with pytest.raises(FormatError, match="widx must lie between 1 and 1000"):
        read_token_streams(save(tmp_path / "x.mat", words=many, widx=[1, 1, 1002]))


def test_another_matlab_file_or_none_gets_a_sentence(tmp_path, write):
    savemat(tmp_path / "y.mat", {"x": 1})
    with pytest.raises(FormatError, match="must hold traindata"):
        read_token_streams(tmp_path / "y.mat")
    with pytest.raises(FormatError, match="not a MATLAB file"):
        read_token_streams(write("z.mat", b"no matlab at all" * 20))


def test_a_document_beyond_all_others_does_not_fill_the_memory(tmp_path):
    with pytest.raises(FormatError, match="wdidx must lie between 1 and 6"):
        read_token_streams(save(tmp_path / "x.mat", wdidx=[1, 1, 10**12]))


def test_damage_that_scipy_stumbles_over_gets_a_sentence(tmp_path):
    whole = save(tmp_path / "x.mat").read_bytes()
    for cut in range(130, len(whole), 97):
        (tmp_path / "cut.mat").write_bytes(whole[:cut])
        with pytest.raises(FormatError, match="not a MATLAB file"):
            read_token_streams(tmp_path / "cut.mat")
    with pytest.raises(FormatError, match="no such file"):
        read_token_streams(tmp_path / "none.mat")
