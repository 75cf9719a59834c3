"""``setwise warmup``: compile every kernel once, so that no later call has to wait for it."""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import sparse

from setwise.commands.talk import Talk
from setwise.data import IterativeKFold, read
from setwise.decisions import ExpectedF1
from setwise.distributions import BernoulliMixture
from setwise.distributions.chain import MOST_SUMMED, Chain
from setwise.errors import NotConverged
from setwise.learners import ElasticNetBank, ElasticNetSoftmax, LogisticBank, SoftmaxRegression
from setwise.learners.nearest import nearest_rows
from setwise.learners.tiled import MANY_CLASSES
from setwise.models import (
    ClassifierChain,
    CondensedFilterTree,
    DependencyLDA,
    DependencyNetwork,
    PairwiseCRF,
    PDSparse,
    TunedSVM,
)


def compile_everything(talk: Talk) -> None:
    """Call every compiled kernel on a few numbers, and say how long it took."""
    start = time.perf_counter()
    with talk.doing("compiling kernels"):
        _read_and_split()
        _learn()
        _decide()
        _chain()
        _name_sets()
        _sample_and_prune()
        _count_words()
    seconds = time.perf_counter() - start
    if talk.as_json:
        talk.data({"seconds": seconds})
    elif not talk.quiet:
        talk.show(f"all kernels compiled or loaded in {seconds:.1f} s")


def _read_and_split() -> None:
    with tempfile.TemporaryDirectory() as folder:
        arff, svmlight = Path(folder, "tiny.arff"), Path(folder, "tiny.svm")
        arff.write_text("@relation tiny\n@attribute x numeric\n@attribute y {0,1}\n@data\n1,1\n")
        svmlight.write_text("0 1:1\n")
        read(arff, labels=-1)
        read(svmlight)
    Y = np.eye(4, 2, dtype=np.int8)
    for groups in (None, [0, 1, 2, 3]):
        list(IterativeKFold(2).split(None, Y, groups))


def _learn() -> None:
    """Every linear learner, on dense and sparse rows, in both precisions."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    T = (random.random((12, 2)) < 0.5).astype(float)
    gate = np.column_stack([T[:, 0], 1 - T[:, 0]])
    classes = sparse.csr_array(gate)  # of one class a row
    many_classes = sparse.csr_array(np.eye(12, MANY_CLASSES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for dtype in (np.float32, np.float64):
            for rows in (X.astype(dtype), sparse.csr_array(X.astype(dtype))):
                for bank in (LogisticBank(max_iter=3), ElasticNetBank(max_iter=3)):
                    bank.fit(rows, T).logits(rows)
                for softmax in (SoftmaxRegression(max_iter=3), ElasticNetSoftmax(max_iter=3)):
                    softmax.fit(rows, gate).log_proba(rows)
                for of_one_class in (classes, many_classes):
                    SoftmaxRegression(max_iter=3).fit(rows, of_one_class)
                nearest_rows(rows, rows, 2)


def _decide() -> None:
    random = np.random.default_rng(0)
    distribution = BernoulliMixture(np.log(np.full((2, 2), 0.5)), random.normal(size=(2, 2, 3)))
    replace(distribution, allow_empty=False).log_prob(np.eye(2, 3, dtype=np.int8))
    distribution.marginals()
    distribution.mode()
    distribution.top(2)
    distribution.sample(1, random_state=0)
    distribution.log_prob_of(sparse.csr_array(np.eye(2, 3, dtype=np.int8)), np.arange(2))
    distribution.on_support(np.eye(2, 3, dtype=np.int8))
    ExpectedF1().decide(distribution)


def _chain() -> None:
    """Chains, learnt from dense and sparse rows, of few labels and of many."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(12, 3)), (random.random((12, 3)) < 0.5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for dtype in (np.float32, np.float64):
            for rows in (X.astype(dtype), sparse.csr_array(X.astype(dtype))):
                ClassifierChain(max_iter=3).fit(rows, Y)
    for L in (3, MOST_SUMMED + 1):
        chain = Chain(random.normal(size=(2, L)), np.triu(random.normal(size=(L, L)), 1))
        sets, _ = chain.top(2)
        chain.log_prob_of(sparse.csr_array(sets[:, 0]), np.arange(2))
        chain.on_support(np.eye(2, L, dtype=np.int8))
        chain.marginals()
        chain.correlation()
        chain.sample(1, random_state=0)
        ExpectedF1().decide(chain)


def _name_sets() -> None:
    """Models with kernels of their own that name sets without a distribution."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    Y = np.array([[1, 0], [0, 1], [1, 1], [1, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        for model in (PDSparse(max_iter=3), CondensedFilterTree(n_rounds=1)):
            model.fit(X, Y).predict(X)


def _sample_and_prune() -> None:
    """Gibbs sampling, and fields over the labels in doubt."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(12, 3)), (random.random((12, 3)) < 0.5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        DependencyNetwork(n_samples=10).fit(X, Y).predict(X)
        PairwiseCRF(inference="pruned", max_iter=3).fit(X, Y).predict(X)


def _count_words() -> None:
    """Topic models, their two ways to infer labels, with and without topics; support vectors."""
    X, Y = np.array([[2.0, 1.0], [1.0, 0.0], [0.0, 3.0]]), np.array([[1, 0], [1, 1], [0, 1]])
    for inference in ("fast", "proper"):
        model = DependencyLDA(n_topics=2, inference=inference, n_label_tokens=3)
        model.fit(X, Y).attribute(X)
    TunedSVM().fit(X, Y)
