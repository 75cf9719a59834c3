import io
import json
import sys
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from setwise import storage
from setwise.errors import FormatError, MissingDependency, StorageError
from setwise.learners.adapt import AdaptedBank
from setwise.learners.foreign import from_bytes, to_bytes


class Homemade(LogisticRegression):
    pass


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        MLPClassifier(3, solver="lbfgs", max_iter=500, random_state=0),
    ],
)
def test_what_is_read_predicts_what_was_written(estimator):
    X = np.random.default_rng(0).normal(size=(60, 3))
    estimator.fit(X, X[:, 0] > 0)
    again = from_bytes(to_bytes(estimator))
    np.testing.assert_array_equal(again.predict_proba(X), estimator.predict_proba(X))


@pytest.mark.parametrize("estimator", [Homemade(), FunctionTransformer(np.testing.assert_equal)])
def test_types_beyond_the_list_are_neither_written_nor_read(estimator):
    with pytest.raises(StorageError, match="only known parts of scikit-learn"):
        to_bytes(estimator)
    with pytest.raises(StorageError, match="only known parts of scikit-learn"):
        from_bytes(skops.io.dumps(estimator))


def test_damaged_bytes_get_a_sentence():
    with pytest.raises(StorageError, match="not a readable estimator"):
        from_bytes(b"PK nonsense")


def test_a_missing_skops_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(MissingDependency, match="needs skops"):
        to_bytes(LogisticRegression())


def rewritten(contents, change):
    """The archive after ``change(name, contents of the member)``."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(contents)) as old,
        zipfile.ZipFile(stream, "w") as new,
    ):
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return stream.getvalue()


def with_sparse_part(n_ones):
    """An estimator that is small only because scipy compresses its matrix.

    Types of sparse matrices are refused, but for their base class, which skops trusts unasked.
    """
    one_cell = np.ones(n_ones), np.zeros(n_ones, dtype=np.int32), [0, n_ones]
    estimator = LogisticRegression(C=sparse.csr_matrix(one_cell, shape=(1, 1)))

    def in_disguise(name, member):
        if name != "schema.json":
            return member
        base = member.replace(b'"csr_matrix"', b'"spmatrix"')
        return base.replace(b'"scipy.sparse._csr"', f'"{sparse.spmatrix.__module__}"'.encode())

    return rewritten(skops.io.dumps(estimator), in_disguise)


def test_a_sparse_part_within_the_room_is_read():
    assert from_bytes(with_sparse_part(1000)).C.sum() == 1000


def test_what_is_packed_inside_counts(monkeypatch):
    contents = with_sparse_part(10**6)
    monkeypatch.setattr(storage, "MAX_BYTES", 10**6)
    monkeypatch.setattr(skops.io, "get_untrusted_types", lambda **_: pytest.fail("was read"))
    assert len(contents) < 10**5
    with pytest.raises(StorageError, match="larger than .* GiB when unpacked"):
        from_bytes(contents)


def test_the_parts_of_one_file_share_its_room(tmp_path, monkeypatch):
    bank = AdaptedBank(LogisticRegression()).fit(np.eye(4), np.eye(4, 2, dtype=np.int8))
    (way,) = storage._FOREIGN
    sparse_part = replace(way, to_bytes=lambda estimator: with_sparse_part(10**5))
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_FOREIGN", [sparse_part])
        storage.save(bank, tmp_path / "bank")
    monkeypatch.setattr(storage, "MAX_BYTES", 2 * 10**6)  # one takes 1.2 million
    with pytest.raises(FormatError, match="bank: larger than .*; save a smaller model"):
        storage.load(tmp_path / "bank")
    monkeypatch.setattr(storage, "MAX_BYTES", 5 * 10**6)  # the bank holds three
    storage.load(tmp_path / "bank")


def test_compressed_members_are_refused():
    contents = skops.io.dumps(LogisticRegression(), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(StorageError, match="holds compressed members"):
        from_bytes(contents)


def test_a_sparse_part_of_another_compression_is_refused():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("data.npy", b"0" * 1000)
    contents = rewritten(
        with_sparse_part(3),
        lambda name, member: packed.getvalue() if name.endswith(".npz") else member,
    )
    with pytest.raises(StorageError, match="compression method 14"):
        from_bytes(contents)


def test_a_sparse_part_that_announces_too_little_is_not_unpacked_further():
    def shortened(name, member):
        return with_sizes(member, 1000) if name.endswith(".npz") else member

    contents = rewritten(with_sparse_part(3 * 10**6), shortened)
    tracemalloc.start()
    with pytest.raises(StorageError, match="not a readable estimator"):
        from_bytes(contents)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30 * 10**6  # numpy makes room for the 24 MB of one array that its header names


def with_sizes(archive, size):
    """The archive with another size announced for each of its members."""
    changed, place = bytearray(archive), archive.find(b"PK\x01\x02")
    while place >= 0:
        changed[place + 24 : place + 28] = size.to_bytes(4, "little")
        place = archive.find(b"PK\x01\x02", place + 1)
    return bytes(changed)


def test_members_that_share_their_bytes_are_refused():
    stream = io.BytesIO(to_bytes(LogisticRegression(C=np.ones(500))))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.filelist += archive.filelist * 3
        archive.writestr("last", b"")  # has the list written again
    with pytest.raises(StorageError, match="members of more than its"):
        from_bytes(stream.getvalue())


@pytest.mark.parametrize("identity", [5, 0, None])
def test_a_member_is_read_once(identity):
    """Or a small file could fill the memory."""

    def twice(name, member):
        if name != "schema.json":
            return member
        schema = json.loads(member)
        parts = schema["content"]["content"]
        parts["tol"] = parts["C"] | {"__id__": identity}
        if not identity:  # skops remembers no object without one
            parts["C"] = parts["tol"]
        return json.dumps(schema)

    contents = to_bytes(LogisticRegression(C=np.ones(5)))
    with pytest.raises(StorageError, match="again and again"):
        from_bytes(rewritten(contents, twice))


def test_an_array_in_two_places_is_read():
    values = np.ones(5)
    again = from_bytes(to_bytes(LogisticRegression(C=values, tol=values)))
    np.testing.assert_array_equal(again.tol, values)
