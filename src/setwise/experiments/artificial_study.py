"""Table 1 of Li 2016: rows drawn from a true mixture of three components.

The paper leaves the number of labels, the scale of the weights and the noise open. Here a component
has nearly a set of its own, as its labels' biases outweigh x: of what we tried, only then does a
power set come as near to the bound as there.
"""

from __future__ import annotations

from typing import Any

from setwise.data import make_cbm
from setwise.distributions import BernoulliMixture
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.metrics import set_accuracy
from setwise.models import CBM, BinaryRelevance, PairwiseCRF, PowerSet

#: how rows are drawn -> how, and the noise
DRAWS: dict[str, tuple[Any, float]] = {
    "argmax": ("argmax", 0.0),
    "argmax + noise": ("argmax", 1.1),
    "sample": ("sample", 0.0),
    "sample + noise": ("sample", 2.0),
}
PUBLISHED = {
    "upper bound": (100, 76.4, 65.2, 48.1),
    "CBM, K = 3": (98.4, 75.8, 65.0, 48.0),
    "CBM, K = 2": (89.9, 69.3, 60.2, 45.8),
    "BR": (82.0, 49.9, 48.0, 40.0),
    "PowSet": (97.5, 74.1, 64.6, 47.3),
    "pairCRF": (96.7, 73.6, 64.7, 45.9),
}
N_ROWS, STRENGTH, STARTS = 15_000, 10_000.0, 3
SCALES: dict[str, Any] = {"gate_scale": 5.0, "label_scale": 0.6, "label_bias_scale": 12.0}


def measure(name: str, seed: int) -> dict[str, float]:
    """Set accuracy of each method on the last third of the rows."""
    return drawn(name, seed, N_ROWS, STARTS)


def drawn(name: str, seed: int, n: int, n_starts: int) -> dict[str, float]:
    """The same for so many rows; of some starts of a mixture the best on training rows is kept."""
    draw, noise = DRAWS[name]
    data = make_cbm(n, draw=draw, noise=noise, random_state=seed, **SCALES)
    cut = n * 2 // 3
    X, Y, X_test, Y_test = data.X[:cut], data.Y[:cut], data.X[cut:], data.Y[cut:]
    generator = BernoulliMixture(data.log_pi[cut:], data.logits[cut:])
    found = {"upper bound": set_accuracy(Y_test, generator.mode()[0])}
    for method in list(PUBLISHED)[1:]:
        found[method] = float(_fitted(method, X, Y, n_starts).score(X_test, Y_test))
    return found


def tabulate(measured: Measured) -> list[ResultTable]:
    """One row a method, one column a way to draw."""
    table = ResultTable(
        "Artificial data (Li 2016, Table 1): set accuracy, published beside",
        ("method", *(column for name in measured for column in (name, "published"))),
        notes="Two thirds of the rows teach, 15,000 in a full run. The upper bound is what the "
        "generator's own likeliest sets reach; where scores are noisy these are not the best there "
        "are, and a model may be a little above. The paper does not tell the scales of its weights "
        "and of the noise: ours were chosen to come near its bounds and its power sets. Binary "
        "relevance is nearer to the bound here, in two of four columns by far.",
    )
    places = list(DRAWS)
    for method, values in PUBLISHED.items():
        cells: list[Any] = []
        for name, runs in measured.items():
            known = [run[method] for run in runs if method in run]
            cells += [
                str(figure(known)) if known else "",
                f"{values[places.index(name)] / 100:.3f}",
            ]
        table.rows.append([method, *cells])
    return [table]


def _fitted(method: str, X: Any, Y: Any, n_starts: int) -> Any:
    if method == "BR":
        return BinaryRelevance(C=STRENGTH, max_iter=1000).fit(X, Y)
    if method == "PowSet":
        return PowerSet(C=STRENGTH, max_iter=300).fit(X, Y)
    if method == "pairCRF":
        return PairwiseCRF(C=STRENGTH).fit(X, Y)
    fits = [
        CBM(
            int(method[-1]), C=STRENGTH, max_iter=60, tol=1e-5, inner_steps=20, dtype="float64",
            random_state=seed,
        ).fit(X, Y)
        for seed in range(n_starts)
    ]  # fmt: skip
    return max(fits, key=lambda model: model.history_[-1]["bound"])


def measure_quick(name: str, seed: int) -> dict[str, float]:
    """The same with fewer rows and one start."""
    return drawn(name, seed, 3000, 1)


ARTIFICIAL = Study(
    "cbm-artificial",
    "Rows drawn from a true mixture",
    tuple(DRAWS),
    measure,
    tabulate,
    seeds=(0, 1, 2),
    settings={"rows": N_ROWS, "C": STRENGTH, "starts": STARTS} | SCALES,
    quick={"measure": measure_quick, "settings": {"rows": 3000} | SCALES},
)
