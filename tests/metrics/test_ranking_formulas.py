"""Every ranking measure against a slow loop over all orders that the scores allow."""

from functools import partial
from itertools import groupby, pairwise, permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from setwise import metrics
from setwise.metrics import ranked


def orders(relevant, scores):
    """The relevance of the candidates, best first, in every order that the scores allow."""
    best_first = sorted(zip(-scores, relevant, strict=True), key=lambda pair: pair[0])
    groups = [[r for _, r in group] for _, group in groupby(best_first, key=lambda pair: pair[0])]
    for order in product(*(permutations(group) for group in groups)):
        yield [r for group in order for r in group]


def wrong_pairs(order):
    relevant = [rank for rank, r in enumerate(order) if r]
    irrelevant = [rank for rank, r in enumerate(order) if not r]
    return np.mean([above < below for below in relevant for above in irrelevant])


def depth(order):
    last_relevant = max(rank for rank, r in enumerate(order, 1) if r)
    first_irrelevant = min(rank for rank, r in enumerate(order, 1) if not r)
    return max(0, last_relevant - first_irrelevant)


def discounted_gain(order, k):
    gain = sum(r / np.log2(rank + 1) for rank, r in enumerate(order[:k], 1))
    best = sum(r / np.log2(rank + 1) for rank, r in enumerate(sorted(order)[::-1][:k], 1))
    return gain / best


def average_precision(relevant, scores):
    precisions = [relevant[scores >= scores[j]].mean() for j in np.flatnonzero(relevant)]
    return np.mean(precisions)


def area_under_precision_recall(relevant, scores):
    """Davis and Goadrich, section 4, threshold by threshold."""
    points = []
    for threshold in sorted(set(scores), reverse=True):
        taken = relevant[scores >= threshold]
        if taken.sum() > 0:
            points.append((taken.sum(), (1 - taken).sum()))
    tp, fp = points[0]
    area = tp * tp / (tp + fp)
    for (tp_a, fp_a), (tp_b, fp_b) in pairwise(points):
        steps = [
            (tp_a + x) / (tp_a + x + fp_a + x * (fp_b - fp_a) / (tp_b - tp_a))
            for x in range(tp_b - tp_a + 1)
            if tp_b > tp_a
        ]
        area += sum((left + right) / 2 for left, right in pairwise(steps))
    return area / relevant.sum()


def expected(measure):
    return lambda relevant, scores: np.mean([measure(o) for o in orders(relevant, scores)])


def worst(measure):
    return lambda relevant, scores: max(measure(o) for o in orders(relevant, scores))


ORACLES = {
    "auc_roc": expected(lambda order: 1 - wrong_pairs(order)),
    "ranking_loss": expected(wrong_pairs),
    "one_error": expected(lambda order: 1 - order[0]),
    "is_error": worst(lambda order: depth(order) > 0),
    "margin": worst(depth),
    "average_precision": average_precision,
    "auc_pr": area_under_precision_recall,
}
AT_K = {
    "precision_at_k": lambda k: expected(lambda order: sum(order[:k]) / k),
    "ndcg_at_k": lambda k: expected(partial(discounted_gain, k=k)),
}


def random_ranking(seed, n=12, L=6, levels=4):
    """Items that all have relevant and irrelevant candidates, and many ties."""
    random = np.random.default_rng(seed)
    relevant = random.integers(0, 2, (n, L))
    relevant[:, 0] = 1 - relevant[:, 1]
    return relevant, random.integers(0, levels, (n, L)) / levels


def check_against(oracle, relevant, scores, name, **options):
    measure = getattr(metrics, name)
    slow = [oracle(r, s) for r, s in zip(relevant, scores, strict=True)]
    answer = measure(relevant, scores, per_item=True, **options)
    assert_allclose(answer, slow, rtol=1e-12, atol=1e-14)
    assert_allclose(measure(relevant, scores, **options), np.mean(slow), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("levels", [1, 2, 4, 1000])
@pytest.mark.parametrize("name", ORACLES)
def test_measures_equal_the_loop(name, levels):
    check_against(ORACLES[name], *random_ranking(levels, levels=levels), name)


@pytest.mark.parametrize("k", [1, 2, 5, 6, 9])
@pytest.mark.parametrize("name", AT_K)
def test_measures_at_k_equal_the_loop(name, k):
    check_against(AT_K[name](k), *random_ranking(k), name, k=k)


@pytest.mark.parametrize("cells", [1, 13, 40])
@pytest.mark.parametrize("pivot", ["document", "label"])
def test_batches_do_not_change_the_places(monkeypatch, cells, pivot):
    relevant, scores = random_ranking(0, n=31)
    whole = ranked.rank_relevant(relevant, scores, pivot)
    monkeypatch.setattr(ranked, "BATCH_CELLS", cells)
    parts = ranked.rank_relevant(relevant, scores, pivot)
    for field in ("item", "above", "tied", "relevant_above", "relevant_tied", "place"):
        assert_array_equal(getattr(parts, field), getattr(whole, field), err_msg=field)


def test_batches_cover_all_items_once(monkeypatch):
    monkeypatch.setattr(ranked, "BATCH_CELLS", 10)
    assert list(ranked.batches(5, 4)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert list(ranked.batches(2, 100)) == [slice(0, 1), slice(1, 2)]
