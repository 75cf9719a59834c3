"""Figure 3 of Li 2016 (Figure 3.7 of Li 2019): set accuracy against the number of components."""

from __future__ import annotations

from setwise.experiments.encoding import as_numbers
from setwise.experiments.protocol import PUBLISHED, part_of
from setwise.experiments.study import Measured, ResultTable, Study, figure
from setwise.models import CBM, BinaryRelevance, PowerSet

COUNTS = (1, 5, 10, 15, 20, 30, 40, 60)
BOOSTED_COUNTS = (1, 5, 10, 15, 20, 30)


def measure(name: str, seed: int, part: str) -> dict[str, object]:
    """Set accuracy on test rows; ``part`` is a kind of label classifiers, or a rival."""
    data = as_numbers(part_of(name, PUBLISHED, 0, None))
    if part == "BR":
        models = {"1": BinaryRelevance(C="auto", max_iter=1000, random_state=seed)}
    elif part == "PowSet":
        models = {"1": PowerSet(C="auto", random_state=seed)}
    elif part == "CBM":
        models = {str(K): CBM(K, C="auto", random_state=seed) for K in COUNTS}
    else:
        models = {
            str(K): CBM(K, "boosting", max_iter=20, tol=-1.0, random_state=seed)
            for K in BOOSTED_COUNTS
        }
    truth = data.labels.encode(data.Y_test)
    Y = data.labels.encode(data.Y_train)
    found = {K: model.fit(data.X_train, Y).score(data.X_test, truth) for K, model in models.items()}
    return {"part": part, "accuracy": found}


def tabulate(measured: Measured) -> list[ResultTable]:
    """A table, and curves with the rivals as level lines."""
    table = ResultTable(
        "How many components? (Li 2016, Figure 3; Li 2019, Figure 3.7)",
        ("data", "model", "components", "set accuracy"),
        notes="The figure gives no numbers; it shows a rise up to about 15 components and little "
        "change after 30. tmc2007 has 500 features here, 49,060 there.",
    )
    for name, runs in measured.items():
        curves: dict[str, list[tuple[float, float]]] = {}
        for part in dict.fromkeys(run["part"] for run in runs):
            some = [run["accuracy"] for run in runs if run["part"] == part]
            for K in some[0]:
                value = figure([one[K] for one in some])
                is_mixture = part.startswith("CBM")
                table.rows.append([name, part, K if is_mixture else "", str(value)])
                places = [float(K)] if is_mixture else [1.0, float(max(COUNTS))]
                curves.setdefault(part, []).extend((place, value.mean) for place in places)
        table.curves[f"set accuracy on {name} by number of components"] = curves
    return [table]


COMPONENTS = Study(
    "cbm-components",
    "Set accuracy against the number of components",
    ("tmc2007", "scene"),
    measure,
    tabulate,
    seeds=(0, 1, 2),
    parts=("CBM", "CBM boosted", "BR", "PowSet"),
    settings={"counts": COUNTS, "boosted": BOOSTED_COUNTS, "power set": "C chosen"},
    quick={"datasets": ("emotions",), "parts": ("CBM", "BR", "PowSet")},
)
