"""The topic models of Rubin et al. 2012: speed, and the paper's tables for Yahoo Arts and Health.

    python benchmarks/topics.py speed      tokens a second, one thread
    python benchmarks/topics.py yahoo      Figures 6, 7, 10 and 11, published values beside ours
        [--splits 1..5] [--preset fast|paper] [--data yahoo_arts yahoo_health] [--models ...]
    python benchmarks/topics.py presets    how close the fast preset comes to the paper's settings
    python benchmarks/topics.py frequency  Figure 12: average precision by frequency of labels
        [--data debtags stackex_cooking bibtex]

``yahoo`` and ``frequency`` need ``$SETWISE_DATA``. Times are the least of several, of the thread's
own clock, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
from time import perf_counter, thread_time

import numba
import numpy as np
from scipy import sparse

from setwise import load_dataset
from setwise.metrics import cutoff_f1, mean_average_precision, ranking_measures
from setwise.models.topics import DependencyLDA, FlatLDA, PriorLDA, TunedSVM
from setwise.models.topics.documents import word_counts
from setwise.models.topics.inference import Inference, Prior, Sampling
from setwise.models.topics.label_topics import learn_label_topics
from setwise.models.topics.words import WordSampler, learn_words

RANKS = (
    "auc_pr",
    "auc_roc",
    "average_precision",
    "ranking_loss",
    "one_error",
    "is_error",
    "margin",
)
PERCENT = ("ranking_loss", "one_error", "is_error")
CUTS = tuple((c, a) for c in ("proportional", "calibrated", "bep") for a in ("macro", "micro"))

# Figures 6 and 7 (documents), 10 and 11 (labels): seven ranking measures, then six of sets.
PUBLISHED = {
    "yahoo_arts": {
        "SVM": (
            (
                0.553,
                0.828,
                0.565,
                17.15,
                55.5,
                68.3,
                4.28,
                0.376,
                0.339,
                0.420,
                0.397,
                0.648,
                0.502,
            ),
            (0.297, 0.751, 0.298, 24.89, 28.4, 100, 6370, 0.325, 0.428, 0.324, 0.429, 0.350, 0.420),
        ),
        "TunedSVM": (
            (
                0.615,
                0.833,
                0.625,
                16.71,
                44.2,
                60.9,
                4.28,
                0.461,
                0.425,
                0.508,
                0.482,
                0.689,
                0.519,
            ),
            (0.329, 0.757, 0.330, 24.25, 27.4, 100, 6367, 0.355, 0.454, 0.357, 0.457, 0.376, 0.448),
        ),
        "DependencyLDA": (
            (
                0.619,
                0.855,
                0.630,
                14.51,
                45.4,
                62.4,
                3.76,
                0.454,
                0.416,
                0.494,
                0.464,
                0.698,
                0.548,
            ),
            (0.339, 0.755, 0.341, 24.49, 44.2, 100, 6355, 0.367, 0.451, 0.368, 0.452, 0.385, 0.439),
        ),
        "PriorLDA": (
            (
                0.607,
                0.853,
                0.619,
                14.67,
                46.8,
                64.6,
                3.87,
                0.448,
                0.406,
                0.479,
                0.439,
                0.690,
                0.545,
            ),
            (0.332, 0.748, 0.333, 25.24, 46.3, 100, 6378, 0.358, 0.440, 0.359, 0.442, 0.378, 0.419),
        ),
        "FlatLDA": (
            (
                0.579,
                0.810,
                0.589,
                18.99,
                47.1,
                66.7,
                5.01,
                0.438,
                0.403,
                0.464,
                0.431,
                0.660,
                0.496,
            ),
            (0.328, 0.749, 0.329, 25.09, 46.3, 100, 6377, 0.355, 0.435, 0.354, 0.437, 0.373, 0.417),
        ),
    },
    "yahoo_health": {
        "SVM": (
            (
                0.682,
                0.887,
                0.694,
                11.30,
                44.1,
                58.0,
                2.21,
                0.463,
                0.428,
                0.574,
                0.573,
                0.763,
                0.687,
            ),
            (0.541, 0.846, 0.542, 15.38, 20.0, 100, 7965, 0.548, 0.638, 0.553, 0.641, 0.571, 0.650),
        ),
        "TunedSVM": (
            (
                0.779,
                0.898,
                0.788,
                10.17,
                24.3,
                43.0,
                2.01,
                0.617,
                0.580,
                0.693,
                0.670,
                0.824,
                0.724,
            ),
            (0.569, 0.849, 0.570, 15.08, 14.3, 100, 7968, 0.571, 0.656, 0.575, 0.658, 0.593, 0.669),
        ),
        "DependencyLDA": (
            (0.795, 0.926, 0.805, 7.45, 24.7, 44.1, 1.52, 0.619, 0.577, 0.700, 0.675, 0.841, 0.766),
            (0.568, 0.850, 0.569, 15.03, 17.1, 100, 7988, 0.562, 0.646, 0.567, 0.649, 0.589, 0.659),
        ),
        "PriorLDA": (
            (0.738, 0.909, 0.750, 9.06, 34.3, 53.9, 1.89, 0.543, 0.503, 0.629, 0.613, 0.803, 0.736),
            (0.526, 0.820, 0.526, 18.04, 17.1, 100, 8016, 0.521, 0.610, 0.526, 0.611, 0.544, 0.617),
        ),
        "FlatLDA": (
            (
                0.744,
                0.893,
                0.757,
                10.66,
                27.0,
                53.1,
                2.20,
                0.594,
                0.559,
                0.633,
                0.605,
                0.796,
                0.710,
            ),
            (0.513, 0.813, 0.514, 18.69, 15.7, 100, 8013, 0.512, 0.599, 0.517, 0.601, 0.532, 0.610),
        ),
    },
}
MODELS = tuple(PUBLISHED["yahoo_arts"])


def yahoo_model(name: str, preset: str, seed: int):
    """A model with the paper's settings for the Yahoo data."""
    common = {"preset": preset, "calibration": "size", "random_state": seed}
    if name == "DependencyLDA":
        weights = {"eta": 100.0, "alpha": 1.0, "gamma": 1.0}
        return DependencyLDA(n_topics=20, beta_labels=1.0, **weights, **common)
    if name == "PriorLDA":
        return PriorLDA(eta=70.0, alpha=30.0, beta_labels=10.0, **common)
    if name == "FlatLDA":
        return FlatLDA(alpha=100.0, **common)
    return TunedSVM(tune=name == "TunedSVM", random_state=seed)


def measured(truth: sparse.csr_array, scores: np.ndarray, Y_train, pivot: str) -> list[float]:
    ranks = ranking_measures(truth, scores, pivot=pivot)
    values = [100 * ranks[name] if name in PERCENT else ranks[name] for name in RANKS]
    cuts = [
        cutoff_f1(truth, scores, cut, pivot=pivot, average=average, Y_train=Y_train)
        for cut, average in CUTS
    ]
    return values + cuts


def yahoo(data: list[str], n_splits: int, preset: str, models: list[str]) -> None:
    names = [*RANKS, *(f"{cut} {average}" for cut, average in CUTS)]
    for dataset in data:
        for name in models:
            results, began = [], perf_counter()
            for split in range(n_splits):
                part = load_dataset(dataset, split=split)
                model = yahoo_model(name, preset, split).fit(part.X_train, part.Y_train)
                scores = model.rank_scores(part.X_test)
                results.append(
                    [measured(part.Y_test, scores, part.Y_train, p) for p in ("document", "label")]
                )
            seconds = (perf_counter() - began) / n_splits
            print(f"\n{dataset}, {name}, {n_splits} splits, {preset}, {seconds:.0f} s a split")
            print(f"{'':20s} {'documents':>9s} published  change {'labels':>9s} published  change")
            ours = np.mean(results, axis=0)
            for i, measure in enumerate(names):
                cells = [
                    f"{mine[i]:9.3f} {theirs[i]:9g} {100 * (mine[i] / theirs[i] - 1):+6.1f}%"
                    for mine, theirs in zip(ours, PUBLISHED[dataset][name], strict=True)
                ]
                print(f"{measure:20s} {cells[0]} {cells[1]}", flush=True)


def presets(n_documents: int = 300) -> None:
    part = load_dataset("yahoo_arts", split=0)
    X, Y = part.X_test[:n_documents], part.Y_test[:n_documents]
    scores = {}
    for preset, seed in (("fast", 0), ("fast", 1), ("paper", 0)):
        began = perf_counter()
        model = yahoo_model("DependencyLDA", preset, seed).fit(part.X_train, part.Y_train)
        theta = scores[preset, seed] = model.rank_scores(X)
        ranks = ranking_measures(Y, theta)
        print(
            f"{preset}, seed {seed}: "
            + ", ".join(f"{name} {ranks[name]:.4f}" for name in RANKS)
            + f", {perf_counter() - began:.0f} s",
            flush=True,
        )
    for seed in (0, 1):
        agreement = np.corrcoef(scores["fast", seed].ravel(), scores["paper", 0].ravel())[0, 1]
        print(f"correlation of theta, fast (seed {seed}) and paper: {agreement:.4f}")


def frequency(data: list[str], preset: str) -> None:
    for dataset in data:
        part = load_dataset(dataset)
        n_train = np.asarray(part.Y_train.sum(axis=0)).ravel()
        tested = np.flatnonzero((n_train > 0) & (np.asarray(part.Y_test.sum(axis=0)).ravel() > 0))
        quintiles = np.array_split(tested[np.argsort(n_train[tested], kind="stable")], 5)
        bounds = [f"{n_train[q].min():g} to {n_train[q].max():g}" for q in quintiles]
        print(f"\n{dataset}: average precision of labels with so many training documents")
        print(f"{'':16s} {'all':>9s} " + " ".join(f"{b:>12s}" for b in bounds))
        for model in (
            DependencyLDA(preset=preset, calibration="size"),
            FlatLDA(preset=preset, calibration="size"),
            TunedSVM(tune=False),
            TunedSVM(),
        ):
            began = perf_counter()
            scores = model.fit(part.X_train, part.Y_train).rank_scores(part.X_test)
            seconds = perf_counter() - began
            values = [
                mean_average_precision(part.Y_test[:, q], scores[:, q])
                for q in (tested, *quintiles)
            ]
            plain = getattr(model, "tune", True) is False
            name = "SVM" if plain else type(model).__name__
            print(
                f"{name:16s} {values[0]:9.3f} "
                + " ".join(f"{v:12.3f}" for v in values[1:])
                + f"   {seconds:.0f} s",
                flush=True,
            )


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
        began = thread_time()
        work()
        times.append(thread_time() - began)
    return min(times)


def speed() -> None:
    for name in ("debtags", "delicious"):
        try:
            part = load_dataset(name)
        except LookupError:
            continue
        sampler = WordSampler(word_counts(part.X_train), part.Y_train, 50.0, 0.01)
        chain = sampler.begin(1)
        sampler.sweep(chain, 100, 2)
        seconds = least(lambda s=sampler, c=chain: s.sweep(c, 3, 3)) / 3
        print(
            f"training, {name}, {part.Y_train.nnz / part.Y_train.shape[0]:.1f} labels a document: "
            f"{sampler.n_tokens / seconds:.3g} tokens a second, "
            f"log-likelihood of a token {sampler.log_likelihood(chain):.4f}"
        )
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
    walls = []
    for n_jobs in (1, 2):
        began = perf_counter()
        inference.infer(counts, sampling, 1, n_jobs)
        walls.append(perf_counter() - began)
    print(
        f"inference, debtags, {n_labels} labels, {T} topics: {1e9 * ours / tokens:.0f} ns a token, "
        f"over all labels {1e9 * naive / tokens:.0f} ns, {naive / ours:.1f} times; "
        f"two threads {walls[0] / walls[1]:.1f} times one",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "yahoo", "presets", "frequency"))
    parser.add_argument("--data", nargs="+")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--preset", default="fast")
    given = parser.parse_args()
    if given.what == "speed":
        speed()
    elif given.what == "presets":
        presets()
    elif given.what == "yahoo":
        yahoo(given.data or list(PUBLISHED), given.splits, given.preset, given.models)
    else:
        frequency(given.data or ["debtags", "stackex_cooking", "bibtex"], given.preset)


if __name__ == "__main__":
    main()
