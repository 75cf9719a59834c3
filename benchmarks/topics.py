"""The speed of the topic models of Rubin et al. 2012.

    python benchmarks/topics.py train      tokens a second, beside tomotopy's if it is installed
        [--data debtags delicious]
    python benchmarks/topics.py infer      test documents, beside a pass over all labels
    python benchmarks/topics.py threads    two threads beside one
    python benchmarks/topics.py speed      all of these

``setwise bench run topics-yahoo`` and ``topics-frequency`` give the paper's figures, and
``topics-presets`` what the fast preset loses. Times are the least of several, of the process's own
clock on one thread, so that other work counts little; those of threads are by the clock on the
wall, one and two in turn, and need two idle cores.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time

import numba
import numpy as np

from setwise import load_dataset
from setwise.models.topics.documents import word_counts
from setwise.models.topics.inference import Inference, Prior, Sampling
from setwise.models.topics.label_topics import learn_label_topics
from setwise.models.topics.words import WordSampler, learn_words

ETA, BETA, SWEEPS = 50.0, 0.01, 100


@numba.njit(nogil=True, error_model="numpy", cache=True)
def infer_naively(ptr, words, counts, phi, topics, by_label, eta, alpha, gamma, n_sweeps, sums):
    """The fast inference with a pass over all labels, and all topics, for each token."""
    T, C = topics.shape
    for d in range(ptr.size - 1):
        n = counts[ptr[d] : ptr[d + 1]].sum()
        if n == 0:
            continue
        z, z_topic = np.random.randint(0, C, n), np.random.randint(0, T, n)  # noqa: NPY002
        share, topic_share = np.zeros(C), np.zeros(T)
        for i in range(n):
            share[z[i]] += 1
            topic_share[z_topic[i]] += 1
        running, running_topics, prior = np.empty(C), np.empty(T), np.empty(C)
        for _ in range(n_sweeps):
            prior[:] = alpha
            for t in range(T):
                weight = eta * (topic_share[t] + gamma) / (n + T * gamma)
                for c in range(C):
                    prior[c] += weight * topics[t, c]
            i = 0
            for e in range(ptr[d], ptr[d + 1]):
                row = phi[words[e]]
                for _ in range(counts[e]):
                    share[z[i]] -= 1
                    mass = 0.0
                    for c in range(C):
                        mass += row[c] * (share[c] + prior[c])
                        running[c] = mass
                    z[i] = np.searchsorted(running, np.random.random() * mass, side="right")  # noqa: NPY002
                    share[z[i]] += 1
                    i += 1
            for i in range(n):
                topic_share[z_topic[i]] -= 1
                row, mass = by_label[z[i]], 0.0
                for t in range(T):
                    mass += row[t] * (topic_share[t] + gamma)
                    running_topics[t] = mass
                t = np.searchsorted(running_topics, np.random.random() * mass, side="right")  # noqa: NPY002
                z_topic[i] = t
                topic_share[t] += 1
        sums[d] += share


def least(work, repeats: int = 5) -> float:
    work()  # compiles
    times = []
    for _ in range(repeats):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def train_speed(name: str) -> None:
    part = load_dataset(name)
    counts, Y = word_counts(part.X_train), part.Y_train
    sampler = WordSampler(counts, Y, ETA, BETA)
    chain = sampler.begin(1)
    sampler.sweep(chain, SWEEPS, 2)
    ours = sampler.n_tokens / least(lambda: sampler.sweep(chain, 5, 3)) * 5
    told = (
        f"training, {name}, {Y.nnz / Y.shape[0]:.1f} labels a document: {ours:.3g} tokens a second"
    )
    print(f"{told}, log-likelihood of a token {sampler.log_likelihood(chain):.4f}", flush=True)
    theirs, likelihood = tomotopy_speed(counts, Y)
    if theirs:
        print(
            f"    tomotopy's PLDA: {theirs:.3g} tokens a second, log-likelihood of a token "
            f"{likelihood:.4f}; ratio {ours / theirs:.2f}",
            flush=True,
        )


def tomotopy_speed(counts, Y) -> tuple[float, float]:
    """Tokens a second on one thread after as many sweeps, and likelihood of a token."""
    try:
        import tomotopy
    except ImportError:
        return 0.0, 0.0
    rows = np.flatnonzero((np.diff(counts.indptr) > 0) & (np.diff(Y.indptr) > 0))
    labels_a_document = Y[rows].nnz / len(rows)
    model = tomotopy.PLDAModel(alpha=ETA / labels_a_document, eta=BETA, seed=1)
    model.optim_interval = 0  # the prior stays as it is, as ours does
    for d in rows:
        at = slice(counts.indptr[d], counts.indptr[d + 1])
        words = np.repeat(counts.indices[at], counts.data[at]).astype(str)
        model.add_doc(words.tolist(), Y.indices[Y.indptr[d] : Y.indptr[d + 1]].astype(str).tolist())
    alone = {"workers": 1, "parallel": tomotopy.ParallelScheme.NONE}
    model.train(SWEEPS, **alone)
    seconds = min(least(lambda: model.train(5, **alone)), wall(lambda: model.train(5, **alone))) / 5
    phi = np.stack([model.get_topic_word_dist(k) for k in range(model.k)])  # (C, words)
    total = sum(
        np.log(np.asarray(doc.get_topic_dist()) @ phi[:, doc.words]).sum() for doc in model.docs
    )
    return model.num_words / seconds, total / model.num_words


def infer_speeds() -> None:
    part = load_dataset("debtags")
    for n_labels in (60, 120, 250, 507):
        infer_speed(part, n_labels)


def infer_speed(part, n_labels: int, n_documents: int = 300, n_sweeps: int = 40) -> None:
    frequent = np.argsort(-np.asarray(part.Y_train.sum(axis=0)).ravel(), kind="stable")[:n_labels]
    Y = part.Y_train[:, np.sort(frequent)]
    sampler = WordSampler(word_counts(part.X_train), Y, 50.0, 0.01)
    words = learn_words(sampler, 2, 30, np.arange(1, 5).reshape(2, 2), None)
    T, prior = min(200, n_labels), Prior(150.0, 30.0, 10.0)
    topics = learn_label_topics(
        Y,
        T,
        gamma=0.01,
        beta=Y.nnz / (10 * T * n_labels),
        n_chains=1,
        burn_in=60,
        seeds=np.array([1]),
        n_jobs=1,
    )
    inference = Inference(words, topics, prior)
    counts = inference.with_known_words(word_counts(part.X_test))[:n_documents]
    tokens = int(counts.sum()) * n_sweeps
    sampling = Sampling(1, n_sweeps - 1, 1, 1)
    ours = least(lambda: inference.infer(counts, sampling, 1, 1))
    arrays = (counts.indptr.astype(np.int64), counts.indices, counts.data)
    phi, dense = words.dense(), topics.dense(0)
    by_label, sums = np.ascontiguousarray(dense.T), np.zeros((n_documents, n_labels))
    weights = (prior.eta, prior.alpha / n_labels, prior.gamma / T)
    naive = least(
        lambda: infer_naively(*arrays, phi, dense, by_label, *weights, n_sweeps, sums), repeats=2
    )
    print(
        f"inference, debtags, {n_labels} labels, {T} topics: {1e9 * ours / tokens:.0f} ns a token, "
        f"over all labels {1e9 * naive / tokens:.0f} ns, ratio {naive / ours:.1f}",
        flush=True,
    )


def thread_speeds() -> None:
    """Two threads beside one; what they give must be the same to the last bit."""
    part = load_dataset("debtags")
    counts, Y = word_counts(part.X_train), part.Y_train
    sampler = WordSampler(counts, Y, ETA, BETA)
    seeds = np.arange(1, 9).reshape(4, 2)
    topic_settings = {
        "gamma": 0.01,
        "beta": 0.06,
        "n_chains": 4,
        "burn_in": 15,
        "seeds": seeds[:, 0],
    }

    def words_of(n_jobs: int):
        return learn_words(sampler, 4, 30, seeds, n_jobs).excess.data

    def topics_of(n_jobs: int):
        return learn_label_topics(Y, 200, n_jobs=n_jobs, **topic_settings).counts.data

    topics = learn_label_topics(Y, 200, n_jobs=None, **topic_settings)
    inference = Inference(
        learn_words(sampler, 4, 30, seeds, None), topics, Prior(150.0, 30.0, 10.0)
    )
    tests = inference.with_known_words(word_counts(part.X_test))[:2000]

    def theta_of(n_jobs: int):
        return inference.infer(tests, Sampling(4, 20, 2, 2), 1, n_jobs).theta

    for told, work in (
        ("words of labels, 4 chains", words_of),
        ("topics of labels, 4 chains", topics_of),
        ("test documents", theta_of),
    ):
        same = np.array_equal(work(1), work(2))
        seconds = {1: [], 2: []}
        for _ in range(5):
            for n_jobs in seconds:
                began = perf_counter()
                work(n_jobs)
                seconds[n_jobs].append(perf_counter() - began)
        one, two = (min(seconds[n]) for n in (1, 2))
        print(
            f"two threads, debtags, {told}: {one:.2f} s and {two:.2f} s, "
            f"{one / two:.2f} times one, answers {'the same' if same else 'DIFFERENT'}",
            flush=True,
        )


def wall(work, repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        began = perf_counter()
        work()
        times.append(perf_counter() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    choices = ("speed", "train", "infer", "threads")
    parser.add_argument("what", nargs="?", choices=choices, default="speed")
    parser.add_argument("--data", nargs="*", default=["debtags", "delicious"])
    given = parser.parse_args()
    if given.what in ("speed", "train"):
        for name in given.data:
            train_speed(name)
    if given.what in ("speed", "infer"):
        infer_speeds()
    if given.what in ("speed", "threads"):
        thread_speeds()


if __name__ == "__main__":
    main()
