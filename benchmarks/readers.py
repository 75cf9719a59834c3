"""Reading files: ours against liac-arff and scikit-learn, in one run.

    python benchmarks/readers.py            # needs $SETWISE_DATA and pip install ".[bench]"

Both sides read the same unpacked file from disk; kernels are compiled beforehand. Times are the
minimum of several runs.
"""

import bz2
import lzma
import os
import tempfile
import time
from pathlib import Path

import arff
from sklearn.datasets import load_svmlight_file

import setwise as sw


def main():
    data = Path(os.environ["SETWISE_DATA"])
    print(f"{'file':<24}{'rows':>9}{'ours s':>9}{'theirs s':>10}{'ratio':>8}   theirs")
    with tempfile.TemporaryDirectory() as folder:
        compare_arff(data / "scene/scene-train.arff", labels=data / "scene/scene.xml")
        imdb = Path(folder, "imdb.arff")
        imdb.write_bytes(bz2.decompress((data / "imdb/Imdb.arff.bz2").read_bytes()))
        compare_arff(imdb, labels=None)
        for name in ("rcv1sub1", "debtags", "stackex_cooking"):
            plain = Path(folder, f"{name}.svm")
            plain.write_bytes(lzma.decompress((data / f"{name}/{name}-train.svm.xz").read_bytes()))
            compare_svmlight(plain)


def compare_arff(path, labels):
    ours = seconds(lambda: sw.read(path, labels=labels), 5)
    text = path.read_text()
    is_sparse = "{" in text[text.lower().index("@data") :]
    kind = arff.LOD if is_sparse else arff.DENSE

    def read_theirs():
        with path.open() as stream:
            return arff.load(stream, return_type=kind)

    theirs = seconds(read_theirs, 2)
    report(path.name, sw.read(path, labels=labels).Y_train.shape[0], ours, theirs, "liac-arff")


def compare_svmlight(path):
    ours = seconds(lambda: sw.read(path), 5)
    theirs = seconds(lambda: load_svmlight_file(str(path), multilabel=True, zero_based=False), 3)
    report(path.name, sw.read(path).Y_train.shape[0], ours, theirs, "load_svmlight_file")


def seconds(call, repeats):
    """The fastest of some calls, after one that compiles and warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def report(name, rows, ours, theirs, who):
    print(f"{name:<24}{rows:>9,}{ours:>9.3f}{theirs:>10.3f}{theirs / ours:>7.1f}x   {who}")


if __name__ == "__main__":
    main()
