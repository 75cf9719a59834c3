import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import setwise as sw
from setwise.errors import NoProbability, StorageError
from setwise.models.set_only import OwnChoice, SetOnlyClassifier, without_empty

SET_ONLY = (sw.PDSparse, sw.CondensedFilterTree, sw.CLEMS)
models = pytest.mark.parametrize("model", SET_ONLY)


def rows(n=80, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, (X @ random.normal(size=(4, 3)) > 0.3).astype(int)


@models
def test_what_would_need_a_probability_is_refused_with_the_reason(model):
    fitted = model().fit(*rows())
    for method in ("predict_proba", "predict_dist"):
        assert not hasattr(fitted, method)
        with pytest.raises(
            NoProbability, match=f"{model.__name__} has no {method}: {model.about.why_not}"
        ):
            getattr(fitted, method)
    with pytest.raises(NoProbability, match="by itself"):
        fitted.decision_.decide(None)
    with pytest.raises(NoProbability, match="has no predict_dist"):
        fitted._distribution(None)


def test_a_model_that_says_nothing_about_itself_is_refused_all_the_same():
    class Silent(SetOnlyClassifier):
        pass

    with pytest.raises(NoProbability, match="names a set and no probability"):
        Silent.predict_proba  # noqa: B018


@models
def test_sparse_rows_frames_and_lists_of_sets_give_the_same_answer(model):
    X, Y = rows()
    names = list("xyz")
    plain = model().fit(X, Y).predict(X)
    frame = pd.DataFrame(Y, columns=names)
    on_frames = model().fit(pd.DataFrame(X, columns=list("abcd")), frame)
    assert on_frames.predict(pd.DataFrame(X, columns=list("abcd"))).columns.tolist() == names
    np.testing.assert_array_equal(on_frames.predict(pd.DataFrame(X, columns=list("abcd"))), plain)
    sparse_fit = model().fit(sparse.csr_array(X), sparse.csr_array(Y))
    assert (sparse_fit.predict(sparse.csr_array(X)).toarray() != plain).mean() < 0.02
    sets = [tuple(np.array(names)[row == 1]) for row in Y]
    assert model().fit(X, sets).predict_sets(X) == [tuple(np.array(names)[r == 1]) for r in plain]


@models
def test_it_learns_and_scores(model):
    X, Y = rows(300)
    fitted = model().fit(X[:200], Y[:200])
    predicted = fitted.predict(X[200:])
    by_chance = sw.metrics.f1(Y[200:], np.ones_like(Y[200:]))
    assert sw.metrics.f1(Y[200:], predicted) > by_chance + 0.05
    exact = (predicted == Y[200:]).all(axis=1).mean()
    np.testing.assert_allclose(fitted.score(X[200:], Y[200:]), exact, rtol=1e-12)
    assert fitted.n_iter_ >= 1


@models
def test_the_empty_set_is_predicted_only_where_it_may_be(model):
    X, Y = rows()
    may_not = model(allow_empty=False).fit(X, Y).predict(X)
    assert may_not.any(axis=1).all()
    may = model().fit(X, Y).predict(X)
    assert not may.any(axis=1).all()


@pytest.mark.parametrize("model", [sw.PDSparse, sw.CLEMS])
def test_permuting_labels_permutes_the_answer(model):
    X, Y = rows()
    order = [2, 0, 1]
    permuted = model().fit(X, Y[:, order]).predict(X)
    assert (permuted != model().fit(X, Y).predict(X)[:, order]).mean() < 0.02


@models
def test_a_row_without_weight_is_as_if_absent(model):
    X, Y = rows()
    weight = np.ones(len(X))
    weight[60:] = 0
    weighted = model().fit(X, Y, sample_weight=weight).predict(X)
    assert (weighted != model().fit(X[:60], Y[:60]).predict(X)).mean() < 0.02


@models
def test_a_target_that_is_not_known_is_refused(model):
    with pytest.raises(sw.errors.DataError, match="target must be one of"):
        model(target="luck").fit(*rows())


@pytest.mark.parametrize("model", [sw.CondensedFilterTree, sw.CLEMS])
def test_a_function_as_cost_is_used_but_not_stored(model, tmp_path):
    def misses(truth, predicted):
        return ((truth == 1) & (predicted == 0)).sum(axis=1) + 0.01 * (truth != predicted).sum(
            axis=1
        )

    X, Y = rows()
    fitted = model(target=misses).fit(X, Y)
    assert fitted.predict(X).sum() > model(target="hamming").fit(X, Y).predict(X).sum()
    with pytest.raises(StorageError):
        fitted.save(tmp_path / "model.setwise")


def test_empty_sets_get_their_best_label():
    chosen = np.array([[0, 0], [1, 1]], dtype=np.int8)
    filled = without_empty(chosen, np.array([[-3.0, -2.0], [0.0, 9.0]]))
    assert filled.tolist() == [[0, 1], [1, 1]]


def test_the_choice_of_its_own_needs_no_tuning():
    assert not OwnChoice.needs_tuning
