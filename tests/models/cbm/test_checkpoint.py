"""A fit that was killed goes on from its checkpoint, and refuses those of other fits."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from setwise.errors import DataError, FormatError, NotConverged
from setwise.models.cbm import checkpoint
from setwise.models.cbm import fit as fit_module
from setwise.models.cbm.em import EM


class Killed(BaseException):
    """As sudden as a signal: nothing catches it."""


@pytest.fixture
def always_write(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)


@pytest.mark.parametrize(
    "options",
    [{}, {"gate": "tree"}, {"sharing": "labels"}, {"dtype": "float64"}, {"min_responsibility": 0}],
)
def test_a_killed_fit_goes_on_and_ends_like_another(
    model, same_predictions, stop_after, always_write, tmp_path, data, options
):
    X, Y = data
    path = tmp_path / "fit"
    whole = model(**options).fit(X, Y)
    undo = stop_after(3, Killed())
    with pytest.raises(Killed):
        model(checkpoint=path, **options).fit(X, Y)
    assert path.is_file()
    undo()
    begun = stop_after(99, Killed())
    resumed = model(checkpoint=path, **options).fit(X, Y)
    begun()
    same_predictions(resumed, whole, X)
    assert [done["bound"] for done in resumed.history_] == [
        done["bound"] for done in whole.history_
    ]
    assert list(tmp_path.iterdir()) == []


def test_going_on_needs_only_the_rounds_that_are_left(
    rows, model, rounds, stop_after, always_write, tmp_path, monkeypatch
):
    X, Y = rows()
    undo = stop_after(4, Killed())
    with pytest.raises(Killed):
        model(checkpoint=tmp_path / "fit").fit(X, Y)
    undo()
    stop_after(rounds - 4, Killed())  # one round more would raise
    # Nor is there another start, or another basis: some machines may turn it the other way.
    monkeypatch.setattr(fit_module, "_by_labels_alone", None)
    monkeypatch.setattr(fit_module, "working_basis", None)
    assert len(model(checkpoint=tmp_path / "fit").fit(X, Y).history_) == rounds


SCRIPT = """
import os, signal, sys
import numpy as np
import setwise as sw
from setwise.models.cbm import checkpoint
from setwise.models.cbm.em import EM

checkpoint.EVERY = checkpoint.SHARE = 0.0
original, count = EM.round, 0

def round(em):
    global count
    count += 1
    if count == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(em)

EM.round = round
data = np.load(sys.argv[1])
sw.CBM(3, max_iter=6, tol=-1.0, n_starts=2, checkpoint=sys.argv[2]).fit(data["X"], data["Y"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_process_that_was_killed_leaves_a_checkpoint(rows, model, same_predictions, tmp_path):
    X, Y = rows()
    np.savez(tmp_path / "rows.npz", X=X, Y=Y)
    path = tmp_path / "fit"
    killed = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "rows.npz"), str(path)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert [file.name for file in tmp_path.iterdir() if "part" in file.name] == []
    resumed = model(checkpoint=path).fit(X, Y)
    assert not path.exists()
    same_predictions(resumed, model().fit(X, Y), X)


def killed_fit(model, stop_after, path, X, Y):
    undo = stop_after(2, Killed())
    with pytest.raises(Killed):
        model(checkpoint=path).fit(X, Y)
    undo()


def test_a_checkpoint_of_another_fit_is_refused_and_kept(
    rows, model, stop_after, always_write, tmp_path
):
    X, Y = rows()
    path = tmp_path / "fit"
    weight = np.arange(1.0, len(X) + 1)
    killed_fit(model, stop_after, path, X, Y)
    contents = path.read_bytes()
    for options, data in [
        ({}, (X + 1, Y)),
        ({}, (X.astype(np.float32), Y)),
        ({}, (X, 1 - Y)),
        ({}, (X, Y, weight)),
        ({"C": 2.0}, (X, Y)),
        ({"max_iter": 9}, (X, Y)),
        ({"stopping": "held_out"}, (X, Y)),
    ]:
        with pytest.raises(FormatError, match="other data or with other settings; delete it"):
            model(checkpoint=path, **options).fit(*data)
    assert path.read_bytes() == contents
    model(checkpoint=path, n_jobs=1, verbose=0).fit(X, Y)  # what makes no difference may differ
    assert not path.exists()


def test_a_damaged_checkpoint_and_other_files_are_refused_and_kept(
    rows, model, stop_after, always_write, tmp_path
):
    X, Y = rows()
    path = tmp_path / "fit"
    killed_fit(model, stop_after, path, X, Y)
    contents = path.read_bytes()
    for damaged in (contents[: len(contents) // 2], b"", b"notes of mine"):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match="no checkpoint to go on from.*; delete it"):
            model(checkpoint=path).fit(X, Y)
        assert path.read_bytes() == damaged
    model().fit(X, Y).save(path)
    with pytest.raises(FormatError, match="holds a CBM, not a checkpoint"):
        model(checkpoint=path).fit(X, Y)
    with pytest.raises(FormatError, match="no such folder"):
        model(checkpoint=tmp_path / "nowhere" / "fit").fit(X, Y)
    with pytest.raises(FormatError, match="packed already; choose a path with another suffix"):
        model(checkpoint=tmp_path / "fit.gz").fit(X, Y)
    with pytest.raises(FormatError, match="a folder, not a file to write to"):
        model(checkpoint=tmp_path).fit(X, Y)
    with pytest.raises(DataError, match="random_state must be an integer"):
        model(checkpoint=path, random_state=None).fit(X, Y)


def test_groups_may_be_dates(rows, model, stop_after, always_write, tmp_path):
    X, Y = rows()
    options = {"checkpoint": tmp_path / "fit", "stopping": "held_out", "patience": 99}
    days = np.datetime64("2026-01-01") + np.arange(len(X)) // 6
    undo = stop_after(2, Killed())
    with pytest.raises(Killed):
        model(**options).fit(X, Y, groups=days)
    undo()
    with pytest.raises(FormatError, match="other data or with other settings"):
        model(**options).fit(X, Y, groups=days[::-1])
    assert len(model(**options).fit(X, Y, groups=days).stopping_curve_) == 6
    assert list(tmp_path.iterdir()) == []


def test_the_search_for_the_rounds_is_not_done_twice(
    rows, model, same_predictions, rounds, stop_after, always_write, tmp_path
):
    X, Y = rows()
    options = {"stopping": "held_out", "patience": rounds}
    whole = model(**options).fit(X, Y)
    for count in (3, rounds - 3):  # in the search, and right after it
        undo = stop_after(count, Killed())
        with pytest.raises(Killed):
            model(checkpoint=tmp_path / "fit", **options).fit(X, Y)
        assert (tmp_path / "fit.search").exists()
        undo()
    resumed = model(checkpoint=tmp_path / "fit", **options).fit(X, Y)
    assert resumed.stopping_curve_ == whole.stopping_curve_
    same_predictions(resumed, whole, X)
    assert list(tmp_path.iterdir()) == []


def test_a_tuned_decision_has_a_checkpoint_of_its_own(
    rows, model, rounds, stop_after, always_write, tmp_path
):
    X, Y = rows()
    undo = stop_after(rounds + 2, Killed())  # the first rounds are those for tuning
    with pytest.raises(Killed):
        model(checkpoint=tmp_path / "fit", target="micro_f1").fit(X, Y)
    undo()
    assert [file.name for file in tmp_path.iterdir()] == ["fit"]
    resumed = model(checkpoint=tmp_path / "fit", target="micro_f1").fit(X, Y)
    np.testing.assert_array_equal(resumed.predict(X), model(target="micro_f1").fit(X, Y).predict(X))


def test_members_that_are_finished_stay_until_the_whole_fit_is(rows, model, tmp_path, monkeypatch):
    X, Y = rows()
    settings = model()._settings()
    data = X.astype(np.float32), sparse.csr_array(Y), np.ones(len(X))
    files = checkpoint.Checkpoints(tmp_path / "fit", "same")
    members = [
        fit_module.fit_mixture(*data, settings, checkpoint=files.part(number))
        for number in ("0", "1")
    ]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fit.0", "fit.1"]
    monkeypatch.setattr(EM, "round", None)  # another fit reads them, without a round
    again = checkpoint.Checkpoints(tmp_path / "fit", "same")
    read = fit_module.fit_mixture(*data, settings, checkpoint=again.part("0"))
    np.testing.assert_allclose(
        read.mixture.log_weights(data[0]), members[0].mixture.log_weights(data[0]), rtol=1e-12
    )
    files.remove()
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_writes_a_checkpoint_whenever_the_last_one_was(
    rows, model, same_predictions, rounds, stop_after, tmp_path
):
    X, Y = rows()
    undo = stop_after(2, KeyboardInterrupt())
    with pytest.warns(NotConverged, match="fit again to go on"):
        model(checkpoint=tmp_path / "fit").fit(X, Y)
    undo()
    stop_after(rounds - 2, Killed())
    resumed = model(checkpoint=tmp_path / "fit").fit(X, Y)
    undo()
    same_predictions(resumed, model().fit(X, Y), X)


def test_quick_rounds_are_not_all_written(rows, model, rounds, monkeypatch, tmp_path):
    written = []
    monkeypatch.setattr(checkpoint.storage, "save", lambda thing, path: written.append(thing))
    model(checkpoint=tmp_path / "fit").fit(*rows())
    assert written == []
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    model(checkpoint=tmp_path / "fit").fit(*rows())
    assert 1 <= len(written) <= rounds


def test_a_full_disk_does_not_end_the_fit(rows, model, rounds, always_write, monkeypatch, tmp_path):
    def fail(thing, path):
        raise OSError("no space left")

    monkeypatch.setattr(checkpoint.storage, "save", fail)
    with pytest.warns(RuntimeWarning, match="could not be written .no space left.; the fit goes"):
        fitted = model(checkpoint=tmp_path / "fit").fit(*rows())
    assert len(fitted.history_) == rounds
