"""How a fit runs: what it shows, how it ends, and how it goes on after it was stopped."""

import io
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy import sparse

import setwise as sw
from setwise import metrics
from setwise.data.split import holdout
from setwise.decisions import ExpectedF1, MostLikelySet
from setwise.errors import DataError, FormatError, NotConverged
from setwise.learners.workers import Workers
from setwise.models.cbm import checkpoint, in_turn
from setwise.models.cbm import fit as fit_module
from setwise.models.cbm.em import EM, Round
from setwise.models.cbm.fingerprint import fingerprint
from setwise.models.cbm.fit import Fitted
from setwise.models.cbm.progress import described, progress, wants_bars
from setwise.models.cbm.stopping import best_rounds, has_peaked, has_settled

ROUNDS = 6


def rows(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    sides = random.normal(size=(2, 4, 5))
    scores = np.where(X[:, :1] > 0, X @ sides[0], X @ sides[1])
    return X, (scores + random.normal(size=scores.shape) > 0.3).astype(int)


def sparse_rows():
    X, Y = rows()
    return sparse.csr_array(np.where(X > 0, X, 0)), Y


def model(**options):
    # tol=-1 never ends EM: some rounds of a float32 fit gain nothing
    return sw.CBM(**{"n_components": 3, "max_iter": ROUNDS, "tol": -1.0, "n_starts": 2} | options)


class Killed(BaseException):
    """As sudden as a signal: nothing catches it."""


@pytest.fixture
def stop_after(monkeypatch):
    """Makes EM raise something in the round after so many; returns a way to undo it."""
    original = EM.round

    def stop(rounds, error):
        count = 0

        def counted(em):
            nonlocal count
            count += 1
            if count == rounds + 1:
                em._maximise()  # half a round: the learners have moved on
                raise error
            return original(em)

        monkeypatch.setattr(EM, "round", counted)
        return lambda: monkeypatch.setattr(EM, "round", original)

    return stop


@pytest.fixture
def always_write(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)


def same_predictions(first, second, X):
    np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), rtol=1e-12)


# Progress


def some_rounds(console, verbose):
    with progress(verbose, console) as reports:
        report = reports("rounds", 5)
        report([Round(-12.5, -0.1, 1.5, 2.25, 0.5)])
    return console.file.getvalue()


@pytest.mark.parametrize("verbose", [0, "auto"])
def test_nothing_is_shown_unless_asked(verbose, capfd):
    model(verbose=verbose).fit(*rows())
    assert capfd.readouterr() == ("", "")
    assert some_rounds(Console(file=io.StringIO(), force_terminal=False), verbose) == ""


def test_a_log_gets_a_line_a_round(capfd):
    fitted = model(verbose=1, stopping="held_out", max_iter=3).fit(*rows())
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == len(fitted.stopping_curve_) + len(fitted.history_)
    assert lines[0].startswith("rounds without held-out rows 1/3: bound -")
    assert "held-out" in lines[0]
    assert "held-out" not in lines[-1].split(": ")[1]


@pytest.mark.parametrize("verbose", [1, "auto"])
def test_a_terminal_gets_a_bar(verbose):
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    shown = some_rounds(console, verbose)
    assert "1/5" in shown
    assert described(Round(-12.5, -0.1, 1.5, 2.25, 0.5)).split(",")[0] in shown


def test_other_words_for_verbose_are_refused():
    for wrong in ("always", -1, None, 0.5):
        with pytest.raises(DataError, match='verbose must be 0, 1 or "auto"'):
            wants_bars(wrong, True)


# Ctrl-C


@pytest.mark.parametrize("data", [rows, sparse_rows])
@pytest.mark.parametrize("options", [{}, {"gate": "tree"}, {"sharing": "labels"}])
def test_ctrl_c_keeps_the_last_finished_round(stop_after, data, options):
    X, Y = data()
    stop_after(3, KeyboardInterrupt())
    with pytest.warns(NotConverged, match="interrupted after 3 of at most 6 rounds"):
        interrupted = model(**options).fit(X, Y)
    stop_after(99, KeyboardInterrupt())
    same_predictions(interrupted, model(max_iter=3, **options).fit(X, Y), X)
    assert len(interrupted.history_) == 3


def test_ctrl_c_in_what_follows_a_round_keeps_that_round():
    X, Y = rows()
    settings = model()._settings()

    def report(history):
        if len(history) == 2:
            raise KeyboardInterrupt

    with pytest.warns(NotConverged, match="after 2 of"):
        fitted = fit_module.fit_mixture(
            X.astype(np.float32), sparse.csr_array(Y), np.ones(len(X)), settings, report=report
        )
    assert fitted.was_interrupted
    assert len(fitted.history) == 2


def test_ctrl_c_before_the_first_round_leaves_the_earlier_fit(stop_after):
    X, Y = rows()
    fitted = model().fit(X, Y)
    before = fitted.predict_proba(X)
    stop_after(0, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X[:50], Y[:50])
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


def test_ctrl_c_in_the_search_or_after_it_keeps_what_the_search_fitted(stop_after):
    X, Y = rows()
    searching = model(stopping="held_out", patience=ROUNDS)
    stop_after(2, KeyboardInterrupt())
    with pytest.warns(NotConverged, match="after 2 of"):
        searching.fit(X, Y)
    assert len(searching.history_) == len(searching.stopping_curve_) == 2
    stop_after(ROUNDS, KeyboardInterrupt())  # in the first round on all rows
    with pytest.warns(NotConverged, match="fitted without the held-out rows"):
        searching.fit(X, Y)
    assert len(searching.history_) == ROUNDS
    assert searching.predict(X).shape == Y.shape


def test_ctrl_c_among_several_fits_keeps_the_finished_ones():
    first = Fitted(None, [])

    def interrupt():
        raise KeyboardInterrupt

    with pytest.warns(NotConverged, match="has the 2 mixtures"):
        assert in_turn.fit_in_turn([lambda: first] * 2 + [interrupt]) == ([first] * 2, False)
    stopped = first._replace(was_interrupted=True)
    assert in_turn.fit_in_turn([lambda: first, lambda: stopped, interrupt]) == (
        [first, stopped],
        False,
    )
    assert in_turn.fit_in_turn([lambda: first]) == ([first], True)
    with pytest.raises(KeyboardInterrupt):
        in_turn.fit_in_turn([interrupt])


# Checkpoints


@pytest.mark.parametrize("data", [rows, sparse_rows])
@pytest.mark.parametrize(
    "options",
    [{}, {"gate": "tree"}, {"sharing": "labels"}, {"dtype": "float64"}, {"min_responsibility": 0}],
)
def test_a_killed_fit_goes_on_and_ends_like_another(
    stop_after, always_write, tmp_path, data, options
):
    X, Y = data()
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
    stop_after, always_write, tmp_path, monkeypatch
):
    X, Y = rows()
    undo = stop_after(4, Killed())
    with pytest.raises(Killed):
        model(checkpoint=tmp_path / "fit").fit(X, Y)
    undo()
    stop_after(ROUNDS - 4, Killed())  # one round more would raise
    # Nor is there another start, or another basis: some machines may turn it the other way.
    monkeypatch.setattr(fit_module, "_by_labels_alone", None)
    monkeypatch.setattr(fit_module, "working_basis", None)
    assert len(model(checkpoint=tmp_path / "fit").fit(X, Y).history_) == ROUNDS


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
def test_a_process_that_was_killed_leaves_a_checkpoint(tmp_path):
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


def killed_fit(stop_after, path, X, Y, **options):
    undo = stop_after(2, Killed())
    with pytest.raises(Killed):
        model(checkpoint=path, **options).fit(X, Y)
    undo()


def test_a_checkpoint_of_another_fit_is_refused_and_kept(stop_after, always_write, tmp_path):
    X, Y = rows()
    path = tmp_path / "fit"
    weight = np.arange(1.0, len(X) + 1)
    killed_fit(stop_after, path, X, Y)
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
    stop_after, always_write, tmp_path
):
    X, Y = rows()
    path = tmp_path / "fit"
    killed_fit(stop_after, path, X, Y)
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
    with pytest.raises(DataError, match="random_state must be an integer"):
        model(checkpoint=path, random_state=None).fit(X, Y)


def test_the_search_for_the_rounds_is_not_done_twice(stop_after, always_write, tmp_path):
    X, Y = rows()
    options = {"stopping": "held_out", "patience": ROUNDS}
    whole = model(**options).fit(X, Y)
    for rounds in (3, ROUNDS - 3):  # in the search, and right after it
        undo = stop_after(rounds, Killed())
        with pytest.raises(Killed):
            model(checkpoint=tmp_path / "fit", **options).fit(X, Y)
        assert (tmp_path / "fit.search").exists()
        undo()
    resumed = model(checkpoint=tmp_path / "fit", **options).fit(X, Y)
    assert resumed.stopping_curve_ == whole.stopping_curve_
    same_predictions(resumed, whole, X)
    assert list(tmp_path.iterdir()) == []


def test_a_tuned_decision_has_a_checkpoint_of_its_own(stop_after, always_write, tmp_path):
    X, Y = rows()
    undo = stop_after(ROUNDS + 2, Killed())  # the first rounds are those for tuning
    with pytest.raises(Killed):
        model(checkpoint=tmp_path / "fit", target="micro_f1").fit(X, Y)
    undo()
    assert [file.name for file in tmp_path.iterdir()] == ["fit"]
    resumed = model(checkpoint=tmp_path / "fit", target="micro_f1").fit(X, Y)
    np.testing.assert_array_equal(resumed.predict(X), model(target="micro_f1").fit(X, Y).predict(X))


def test_members_that_are_finished_stay_until_the_whole_fit_is(tmp_path, monkeypatch):
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


def test_ctrl_c_writes_a_checkpoint_whenever_the_last_one_was(stop_after, tmp_path):
    X, Y = rows()
    undo = stop_after(2, KeyboardInterrupt())
    with pytest.warns(NotConverged, match="fit again to go on"):
        model(checkpoint=tmp_path / "fit").fit(X, Y)
    undo()
    stop_after(ROUNDS - 2, Killed())
    resumed = model(checkpoint=tmp_path / "fit").fit(X, Y)
    undo()
    same_predictions(resumed, model().fit(X, Y), X)


def test_quick_rounds_are_not_all_written(monkeypatch, tmp_path):
    written = []
    monkeypatch.setattr(checkpoint.storage, "save", lambda thing, path: written.append(thing))
    model(checkpoint=tmp_path / "fit").fit(*rows())
    assert written == []
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    model(checkpoint=tmp_path / "fit").fit(*rows())
    assert 1 <= len(written) <= ROUNDS


def test_a_full_disk_does_not_end_the_fit(always_write, monkeypatch, tmp_path):
    def fail(thing, path):
        raise OSError("no space left")

    monkeypatch.setattr(checkpoint.storage, "save", fail)
    with pytest.warns(RuntimeWarning, match="could not be written .no space left.; the fit goes"):
        fitted = model(checkpoint=tmp_path / "fit").fit(*rows())
    assert len(fitted.history_) == ROUNDS


def test_the_state_stays_while_em_goes_on():
    X, Y = rows()
    for options in ({}, {"gate": "tree"}, {"sharing": "labels"}):
        with Workers(1) as workers:
            training = fit_module.TrainingRows(
                X.astype(np.float32), sparse.csr_array(Y), np.ones(len(X))
            )
            em = fit_module.start(training, model(**options)._settings(), workers)
            em.round()
            state = em.state()
            expected = em.round().bound
            em.round()
            em.restore(state)
            assert em.round().bound == expected


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


# Stopping


def test_rules_that_end_em():
    history = [Round(bound, 0, 0, 0, 0) for bound in (-100.0, -50.0, -49.9)]
    assert not has_settled(history[:1], 1e-2)
    assert not has_settled(history[:2], 1e-2)
    assert has_settled(history, 1e-2)
    assert not has_settled(history, 1e-3)
    assert not has_settled(history, None)
    scored = [replace(history[0], held_out=score) for score in (1.0, 3.0, 3.0, 2.0, 4.0)]
    assert [has_peaked(scored[:count], 2) for count in range(6)] == [0, 0, 0, 0, 1, 0]
    assert best_rounds([1.0, 3.0, 3.0, 2.0]) == 2


SCORES = {
    "set_accuracy": metrics.set_accuracy,
    "f1": metrics.f1,
    "hamming": lambda truth, decided: -metrics.hamming_loss(truth, decided),
}


@pytest.mark.parametrize("target", SCORES)
def test_the_curve_is_that_of_models_with_so_many_rounds(target):
    X, Y = rows(seed=4)
    searching = model(stopping="target", target=target, patience=2, scale="none", max_iter=10)
    curve = searching.fit(X, Y).stopping_curve_
    train, test = holdout(Y, test_size=0.2)
    for rounds in (1, len(curve)):
        shorter = model(max_iter=rounds, target=target, scale="none").fit(X[train], Y[train])
        expected = SCORES[target](Y[test], shorter.predict(X[test]))
        np.testing.assert_allclose(curve[rounds - 1], expected, rtol=1e-9)


def test_held_out_log_likelihoods_are_those_of_models_with_so_many_rounds():
    X, Y = rows(seed=5)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    searching = model(stopping="held_out", validation_share=0.3, patience=99, scale="none")
    curve = searching.fit(X, Y, weight).stopping_curve_
    assert len(curve) == ROUNDS
    counts = np.flatnonzero(weight)
    train, test = (counts[part] for part in holdout(Y[counts], test_size=0.3))
    for rounds in (1, ROUNDS):
        shorter = model(max_iter=rounds, scale="none", allow_empty=True)
        log_prob = shorter.fit(X[train], Y[train], weight[train]).predict_dist(X[test])
        expected = np.average(log_prob.log_prob(Y[test]), weights=weight[test])
        np.testing.assert_allclose(curve[rounds - 1], expected, rtol=1e-5)


@pytest.mark.parametrize("stopping", ["held_out", "target"])
def test_all_rows_are_fitted_with_the_best_number_of_rounds(stopping):
    X, Y = rows(seed=1)
    searching = model(stopping=stopping, patience=2, max_iter=30, tol=0.5).fit(X, Y)
    curve = searching.stopping_curve_
    best = int(np.argmax(curve)) + 1
    assert 1 < best == len(curve) - 2 < 28  # patience ended it, neither at once nor late
    assert len(searching.history_) == best  # tol would have ended it before
    same_predictions(searching, model(max_iter=best).fit(X, Y), X)


def test_groups_stay_together(monkeypatch):
    X, Y = rows()
    groups = np.repeat(np.arange(20), 6)
    X[:, 0] = groups
    seen = []
    original = fit_module.fit_mixture

    def noted(X, Y, weight, settings, **options):
        seen.append((X[:, 0], options["held_out"].X[:, 0]))
        return original(X, Y, weight, settings, **options)

    monkeypatch.setattr("setwise.models.cbm.search.fit_mixture", noted)
    model(stopping="held_out", scale="none").fit(X, Y, groups=groups)
    ((train, test),) = seen
    assert len(train) + len(test) == len(X)
    assert len(test) == 24
    assert set(train).isdisjoint(test)


def test_empty_sets_that_are_not_allowed_do_not_spoil_the_likelihood():
    X, Y = rows()
    Y[::3] = 0
    curve = model(stopping="held_out", allow_empty=False).fit(X, Y).stopping_curve_
    assert np.isfinite(curve).all()


def test_the_bound_needs_no_curve_and_wrong_words_are_refused():
    X, Y = rows()
    assert model().fit(X, Y).stopping_curve_ == []
    for options, message in [
        ({"stopping": "never"}, "stopping must be one of bound, held_out, target, not 'never'"),
        ({"patience": 0}, "patience is a whole number from 1 up"),
        ({"stopping": "held_out", "validation_share": 1.5}, "validation_share is between 0 and 1"),
        ({"stopping": "target", "target": "micro_f1"}, "need no tuning, not for 'micro_f1'"),
        ({"stopping": "target", "target": "f1_calibrated"}, "need no tuning"),
    ]:
        with pytest.raises(DataError, match=message):
            model(**options).fit(X, Y)
    with pytest.raises(DataError, match="only one row with weight"):
        model(stopping="held_out").fit(X[:1], Y[:1])
