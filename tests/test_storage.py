import io
import json
import pickle
import subprocess
import sys
import tracemalloc
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from setwise import storage
from setwise.errors import FormatError, StorageError


@storage.storable
class Box:
    def __init__(self, parameter=None):
        self.parameter = parameter

    def open_(self):
        """A method whose name looks like a fitted attribute's."""


def same(a, b):
    if isinstance(a, Box):
        return isinstance(b, Box) and same(vars(a), vars(b))
    if sparse.issparse(a):
        return a.shape == b.shape and (a != b).nnz == 0
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and (a == b or (a != a and b != b))


def round_trip(thing, path):
    storage.save(thing, path)
    return storage.load(path)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(plain, plain)
def test_plain_values_come_back(tmp_path_factory, parameter, fitted):
    box = Box(parameter)
    box.value_ = fitted
    assert same(round_trip(box, tmp_path_factory.mktemp("box") / "box.setwise"), box)


def test_arrays_matrices_and_objects_come_back(tmp_path):
    box = Box(Box(np.float32))
    box.array_ = np.arange(6, dtype=np.float32).reshape(2, 3)
    box.words_ = np.array(["a", "bc"])
    box.names_ = np.array(["a", "bc"], dtype=object)
    box.matrix_ = sparse.csr_array(np.eye(3, dtype=np.int8))
    box.inner_ = [Box((1, None)), {"key": np.int64(3), 4: np.nan}]
    back = round_trip(box, tmp_path / "box.setwise")
    box.inner_[1]["key"] = 3
    assert same(back, box)


def test_what_is_neither_parameter_nor_fitted_is_left_out(tmp_path):
    box = Box()
    box._secret = box.temporary = 1
    assert vars(round_trip(box, tmp_path / "box.setwise")) == {"parameter": None}


@pytest.mark.parametrize(
    "value",
    [print, object(), np.array([object()]), {1, 2}, np.random.default_rng(0), b"bytes"],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_stored_safely_is_refused(tmp_path, value):
    with pytest.raises(StorageError, match=r"Box\.parameter is of type"):
        storage.save(Box(value), tmp_path / "box.setwise")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".setwise.GZ"])
def test_a_path_that_asks_for_more_packing_is_refused(tmp_path, suffix):
    with pytest.raises(FormatError, match="packed already; choose a path with another suffix"):
        storage.save(Box(1), tmp_path / f"box{suffix}")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_not_written_to(tmp_path):
    for folder in (tmp_path, f"{tmp_path}/", ""):
        with pytest.raises(FormatError, match="a folder, not a file to write to; add a file name"):
            storage.save(Box(1), folder)
    with pytest.raises(FormatError, match="no such folder to write to"):
        storage.save(Box(1), tmp_path / "nowhere" / "box")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["box", "box.zip", "box.gz.old", ".gz", "a b.é", "box.", "-"])
def test_any_other_path_is_written(tmp_path, name):
    assert round_trip(Box(1), tmp_path / name).parameter == 1
    assert round_trip(Box(2), str(tmp_path / name)).parameter == 2


def write_archive(path, manifest, **members):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("manifest.json", json.dumps(manifest))
        for name, contents in members.items():
            file.writestr(f"{name[1:]}.npy", contents)
    return path


def manifest(root, **changes):
    return {"format": "setwise", "version": 1, "root": root} | changes


class Exploit:
    def __reduce__(self):
        return print, ("this must not run",)


def test_a_pickled_array_is_not_opened(tmp_path, capsys):
    contents = io.BytesIO()
    np.lib.format.write_array(contents, np.array([Exploit()]), allow_pickle=True)
    path = write_archive(tmp_path / "x", manifest({"array": 0}), _0=contents.getvalue())
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "root",
    [
        {"object": "Popen", "parameters": {"args": "true"}, "fitted": {}},
        {"object": "Box", "parameters": {}, "fitted": {"__class__": 1}},
        {"object": "Box", "parameters": {}, "fitted": {"_private_": 1}},
        {"object": "Box", "parameters": {}, "fitted": {"save": 1}},
        {"object": "Box", "parameters": {}, "fitted": {"open_": 1}},
    ],
)
def test_only_fitted_attributes_of_known_classes_are_made(tmp_path, root):
    with pytest.raises(StorageError):
        storage.load(write_archive(tmp_path / "x", manifest(root)))


def test_classes_of_setwise_are_found_wherever_they_are(tmp_path):
    """In a fresh process, where only the storage was imported."""
    for name in ("TableEncoder", "SetPrior", "IsotonicBank"):  # of three layers above it
        root = {"object": name, "parameters": {}, "fitted": {}}
        write_archive(tmp_path / name, manifest(root))
    program = (
        "from setwise import storage; from pathlib import Path; import sys;"
        "print(*(type(storage.load(one)).__name__ for one in sorted(Path(sys.argv[1]).iterdir())))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "IsotonicBank SetPrior TableEncoder\n"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 2}, "written in format 2, this setwise reads format 1; upgrade"),
        ({"format": "other"}, "not a setwise file"),
    ],
)
def test_newer_and_foreign_files_get_a_sentence(tmp_path, change, sentence):
    with pytest.raises(FormatError, match=sentence):
        storage.load(write_archive(tmp_path / "x", manifest(None, **change)))


@pytest.mark.parametrize(
    "root",
    [
        {"array": 7},
        {"array": "../../etc/passwd"},
        {"csr": [{"list": [1]}, {"list": [9]}, {"list": [0, 1]}], "shape": [1, 2]},
        {"object": "Box", "parameters": {"unknown": 1}, "fitted": {}},
        {"nothing": "known"},
        {"dtype": "no such dtype"},
    ],
)
def test_a_broken_manifest_gets_a_sentence(tmp_path, root):
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(write_archive(tmp_path / "x", manifest(root)))


def test_damaged_files_get_a_sentence(tmp_path):
    box = Box()
    box.array_ = np.random.default_rng(0).random(1000)
    path = tmp_path / "box.setwise"
    storage.save(box, path)
    whole = path.read_bytes()
    for position in range(0, len(whole), 97):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        with suppress(FormatError, StorageError):
            assert same(storage.load(path), box)  # a byte that means nothing, such as a date
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)
    path.write_bytes(pickle.dumps(box))
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)
    with pytest.raises(FormatError, match="no such file"):
        storage.load(tmp_path / "nothing")


def test_an_archive_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "MAX_BYTES", 100)
    box = Box("x" * 1000)
    with pytest.raises(FormatError, match="larger than"):
        round_trip(box, tmp_path / "box.setwise")


def test_no_more_is_unpacked_than_was_announced(tmp_path):
    path = tmp_path / "box"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", b"0" * 50_000_000)
    contents = bytearray(path.read_bytes())
    size = contents.index(b"PK\x01\x02") + 24
    contents[size : size + 4] = (1000).to_bytes(4, "little")
    path.write_bytes(contents)
    tracemalloc.start()
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_compressions_that_cannot_be_stopped_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "box", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("manifest.json", json.dumps(manifest({"list": []})))
    with pytest.raises(FormatError, match="compression method 12"):
        storage.load(tmp_path / "box")


def array_bytes(header, contents=b"12345678"):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + contents


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (900000000,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2)}",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000000,)}",
        "{'descr': '<f8', (((",
        ",",
        "-" * 9000 + "1",
    ],
    ids=["petabytes", "gigabytes", "overflow", "no bytes", "open", "comma", "nested"],
)
def test_an_array_is_no_larger_than_its_member(tmp_path, header, monkeypatch):
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("made room"))
    root = {"object": "Box", "parameters": {"parameter": {"array": 0}}, "fitted": {}}
    path = write_archive(tmp_path / "box", manifest(root), _0=array_bytes(header))
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)


def test_an_array_is_read_once(tmp_path):
    """Or a small file could fill the memory."""
    contents = io.BytesIO()
    np.save(contents, np.zeros(3))
    path = write_archive(
        tmp_path / "box", manifest({"list": [{"array": 0}] * 2}), _0=contents.getvalue()
    )
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)


def test_a_damaged_member_of_any_compression_gets_a_sentence(tmp_path):
    path = tmp_path / "box"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("manifest.json", json.dumps(manifest({"list": list(range(500))})))
        start = file.getinfo("manifest.json").header_offset + 30 + len("manifest.json")
    contents = bytearray(path.read_bytes())
    contents[start + 12 : start + 60] = b"\xff" * 48
    path.write_bytes(contents)
    with pytest.raises(FormatError, match="not a complete setwise file"):
        storage.load(path)
