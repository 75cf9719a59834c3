"""The neural models as estimators: what they learn, seeds, storage, and what they refuse."""

import numpy as np
import pytest
from scipy import sparse

import setwise as sw
from setwise.errors import DataError, MissingDependency
from setwise.models.neural import SPEN, DeepValueNetwork, PredictAndConstrain, base

MODELS = (SPEN, DeepValueNetwork, PredictAndConstrain)
QUICK = {
    "hidden": 16,
    "steps": 5,
    "learning_rate": 0.02,
    "batch_size": 16,
    "max_epochs": 12,
    "n_jobs": 1,
}

torch = pytest.importorskip("torch", reason="the neural models need PyTorch")
models = pytest.mark.parametrize("model", MODELS, ids=[model.__name__ for model in MODELS])


def rows(n=160, seed=0):
    """Two signs decide three labels; the third is there just where the first two differ."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    a, b = X[:, 0] > 0, X[:, 1] > 0
    return X, np.column_stack([a, b, a ^ b]).astype(int)


@models
def test_it_learns_labels_that_no_linear_model_can(model):
    X, Y = rows()
    fitted = model(**QUICK | {"max_epochs": 40, "patience": 40}).fit(X, Y)
    X, Y = rows(seed=1)
    assert fitted.score(X, Y) > 0.7
    assert sw.BinaryRelevance().fit(*rows()).score(X, Y) < 0.6


@models
def test_a_seed_decides_everything_and_leaves_pytorchs_own_chance_alone(model):
    X, Y = rows(60)
    before = torch.random.get_rng_state()
    one, two = (model(**QUICK | {"max_epochs": 3}).fit(X, Y).predict_proba(X) for _ in range(2))
    other = model(**QUICK | {"max_epochs": 3}, random_state=1).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


@models
def test_files_bring_back_the_same_answers(model, tmp_path):
    X, Y = rows(60)
    fitted = model(**QUICK | {"max_epochs": 3}).fit(X, Y)
    fitted.save(tmp_path / "model.setwise")
    restored = sw.load(tmp_path / "model.setwise")
    np.testing.assert_array_equal(restored.predict_proba(X), fitted.predict_proba(X))


@models
def test_sparse_rows_work_and_rows_without_weight_do_not_count(model):
    X, Y = rows(60)
    X = sparse.csr_array(np.maximum(X, 0))
    wrong, weight = np.vstack([Y, 1 - Y]), np.repeat([1.0, 0.0], 60)
    twice = sparse.vstack([X, X], format="csr")
    one = model(**QUICK | {"max_epochs": 3}).fit(X, Y)
    two = model(**QUICK | {"max_epochs": 3}).fit(twice, wrong, sample_weight=weight)
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X), rtol=1e-5)


def test_training_stops_when_rows_held_out_gain_no_more_and_keeps_the_best_epoch():
    X, Y = rows()
    noise = np.random.default_rng(0).permutation(Y)
    fitted = SPEN(**QUICK | {"max_epochs": 200, "patience": 3}).fit(X, noise)
    held_out = [epoch["held_out_f1"] for epoch in fitted.history_]
    assert len(held_out) < 200
    assert max(held_out) == held_out[-4]


def test_few_rows_are_all_learnt_from():
    X, Y = rows(8)
    fitted = SPEN(**QUICK).fit(X, Y)
    assert len(fitted.history_) == QUICK["max_epochs"]
    assert "held_out_f1" not in fitted.history_[0]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"hidden": 0}, "hidden is a whole number from 1 up, not 0"),
        ({"max_epochs": 1.5}, "max_epochs is a whole number from 1 up, not 1.5"),
        ({"learning_rate": 0.0}, "learning_rate is a number over zero, not 0.0; try 0.001"),
        ({"learning_rate": "slow"}, "learning_rate is a number over zero, not 'slow'"),
        ({"weight_decay": -0.1}, "weight_decay is a number from zero up, not -0.1; try 0.01"),
        ({"weight_decay": None}, "weight_decay is a number from zero up, not None"),
        ({"step_size": "long"}, "step_size is a number over zero, not 'long'; try 0.5"),
        ({"step_size": -1.0}, "step_size is a number over zero, not -1.0"),
        ({"device": None}, 'device is "auto", "cpu" or "cuda", not None'),
        ({"device": "abacus"}, 'device is "auto", "cpu" or "cuda", not \'abacus\''),
    ],
)
def test_settings_that_make_no_sense_are_refused(setting, sentence):
    with pytest.raises(DataError, match=sentence):
        SPEN(**setting).fit(*rows(20))


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(DataError, match="device is 'cuda', but PyTorch finds no GPU"):
        SPEN(device="cuda").fit(*rows(20))


def test_a_single_group_is_learnt_from_as_a_whole():
    X, Y = rows(40)
    quick = QUICK | {"max_epochs": 2}
    fitted = SPEN(**quick).fit(X, Y, groups=np.zeros(len(X)))
    assert "held_out_f1" not in fitted.history_[0]
    assert "held_out_f1" in SPEN(**quick).fit(X, Y, groups=np.arange(len(X)) % 4).history_[0]


@models
def test_a_fit_tells_of_itself_if_asked(model, capsys):
    model(**QUICK | {"max_epochs": 2, "verbose": 1}).fit(*rows(20))
    assert capsys.readouterr().out.startswith(
        f"{model.__name__}: 20 rows, 3 labels, 2 iterations, "
    )


def test_without_pytorch_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r'pip install "setwise\[neural\]"'):
        SPEN().fit(*rows(20))
