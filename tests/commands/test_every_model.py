"""Every model that ``setwise models`` lists, from a file to sets, figures and a page."""

import csv
import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from setwise.models import NEURAL
from setwise.pipeline.build import model_names, takes_counts

_MADE = runpy.run_path(str(Path(__file__).parents[1] / "pipeline" / "conftest.py"))

#: What keeps a model small where it is not.
SMALL = {
    "CBM": ("n_components=4", "max_iter=5"),
    "ChainEnsemble": ("n_chains=2",),
    "DeepValueNetwork": ("hidden=8", "max_epochs=3"),
    "DependencyLDA": ("preset=fast", "n_topics=4", "word_chains=1", "topic_chains=1", "n_chains=1"),
    "DependencyNetwork": ("n_samples=50",),
    "FlatLDA": ("preset=fast", "word_chains=1", "n_chains=1"),
    "ModelAverage": ("weights=equal",),
    "MixtureOfExperts": ("max_experts=2", "max_em=3"),
    "PredictAndConstrain": ("hidden=8", "max_epochs=3"),
    "PriorLDA": ("preset=fast", "word_chains=1", "n_chains=1"),
    "RAkEL": ("n_models=3",),
    "SPEN": ("hidden=8", "max_epochs=3"),
}
SLOW = {*NEURAL, "ModelAverage"}
TARGETS = {"LabelSizeF1": "f1"}  # which knows no likeliest set


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Fewer tickets: train.csv and test.csv."""
    folder = tmp_path_factory.mktemp("few")
    _MADE["write_rows"](folder / "train.csv", _MADE["made_rows"](120))
    _MADE["write_rows"](folder / "test.csv", _MADE["made_rows"](60, seed=1))
    return folder


def _marked(name):
    return pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [])


@pytest.mark.parametrize("name", [_marked(one) for one in model_names()])
def test_from_a_file_to_sets_figures_and_a_page(run, few, tmp_path, name):
    if name in NEURAL:
        pytest.importorskip("torch")
    model, out, page = (tmp_path / file for file in ("m.setwise", "out.csv", "page.html"))
    options = [word for pair in SMALL.get(name, ()) for word in ("--option", pair)]
    ignored = ("--ignore", "id", *(["age"] if takes_counts(name) else []))
    code, _, err = run(
        "fit", few / "train.csv", "--labels", "tags", *ignored, "--model", name, *options,
        "--target", TARGETS.get(name, "set_accuracy"), "--folds", 2, "--out", model, "--quiet",
    )  # fmt: skip
    assert code == 0, err
    asked = ("--top", 2, "--probabilities", "--out", out, "--quiet")
    assert run("predict", model, few / "test.csv", *asked) == (0, "", "")
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = [name for name in rows[0] if name.startswith("p(")]
    assert len(rows) == 60
    assert len(numbers) == 4
    said = np.array([[float(row[one]) for one in ("confidence", *numbers)] for row in rows])
    assert ((said >= 0) & (said <= 1)).all()
    assert len(np.unique(said[:, 0])) > 1  # some sets are surer than others
    right = np.mean([row["predicted"] == row["tags"] for row in rows])
    code, told, _ = run("evaluate", model, few / "test.csv", "--draws", 2, "--json")
    assert code == 0
    facts = json.loads(told)
    np.testing.assert_allclose(facts["measures"]["set_accuracy"]["value"], right, rtol=1e-12)
    assert facts["ranking"]["auc_roc"] > 0.5
    code, _, err = run("report", model, few / "test.csv", "--out", page, "--draws", 2, "--quiet")
    assert (code, err) == (0, "")
    assert f"<title>{name} on " in page.read_text()
    code, told, _ = run("explain", model, few / "test.csv", "--row", 2, "--json")
    assert code == 0
    assert "|".join(json.loads(told)["set"]) == rows[1]["predicted"]
