import bz2
import gzip
import lzma

import pytest

from setwise.data.formats import files
from setwise.errors import FormatError

TEXT = "müsli\nand more\n"
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_packed_files_are_told_by_their_first_bytes(write, suffix):
    packed = PACKERS.get(suffix, bytes)(TEXT.encode())
    assert files.read_bytes(write(f"data{suffix}", packed)) == TEXT.encode()
    assert files.read_bytes(write("no-suffix", packed)) == TEXT.encode()


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_what_is_written_is_read_again(tmp_path, suffix):
    path = tmp_path / f"data.txt{suffix}"
    with files.write_atomically(path) as stream:
        stream.write(TEXT.encode())
    assert files.read_bytes(path) == TEXT.encode()
    assert (path.read_bytes() == TEXT.encode()) == (suffix == "")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(write, tmp_path):
    path = write("data.txt", "old")
    with pytest.raises(KeyboardInterrupt), files.write_atomically(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["data.txt"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("cut", [0.5, 0.9])
def test_a_truncated_archive_gets_a_sentence(write, suffix, cut):
    packed = PACKERS[suffix](bytes(range(256)) * 40)
    path = write(f"data{suffix}", packed[: int(len(packed) * cut)])
    with pytest.raises(FormatError, match=r"truncated or damaged .*; fetch it again"):
        files.read_bytes(path)


def test_an_archive_that_would_fill_the_memory_is_refused(write, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    monkeypatch.setattr(files, "_CHUNK", 100)
    path = write("bomb.gz", gzip.compress(bytes(2000)))
    with pytest.raises(FormatError, match="larger than"):
        files.read_bytes(path)


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (b"", "the file is empty"),
        (b"\n\r\n", "the file is empty"),
        (b"PK\x03\x04\x00\x00", "a binary file"),
        ("text".encode("utf-16"), "UTF-16; pass encoding='utf-16'"),
        (b"one\ntwo\nm\xfcsli\n", "line 3: byte 0xfc is not UTF-8; pass encoding="),
    ],
)
def test_what_is_not_utf8_text_gets_a_sentence(write, contents, sentence):
    with pytest.raises(FormatError, match=sentence):
        files.read_utf8(write("data.txt", contents))


def test_other_encodings_and_byte_order_marks(write):
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        path = write("data.txt", TEXT.encode(encoding))
        assert files.read_utf8(path, encoding) == TEXT.encode()
    assert files.read_utf8(write("bom.txt", TEXT.encode("utf-8-sig"))) == TEXT.encode()
    with pytest.raises(FormatError, match="the text is not ascii8"):
        files.read_utf8(write("data.txt", TEXT), "ascii8")


def test_missing_files_and_folders_get_a_sentence(tmp_path):
    with pytest.raises(FormatError, match="no such file, where a data file was expected"):
        files.read_bytes(tmp_path / "nothing.arff")
    with pytest.raises(FormatError, match="a folder, where a data file was expected"):
        files.read_bytes(tmp_path)


def test_suffixes():
    assert files.bare_suffix("a/scene.ARFF.gz") == ".arff"
    assert files.bare_suffix("x.svm.xz") == ".svm"
    assert files.bare_suffix("x") == ""


def test_lines_end_where_lines_end_and_nowhere_else(write):
    path = write("names.txt", "one\u2028still one\r\ntwo\x1cstill two\n\n")
    assert files.read_lines(path) == ["one\u2028still one", "two\x1cstill two"]
    assert files.read_lines(write("old.txt", "one\rtwo\r")) == ["one", "two"]
