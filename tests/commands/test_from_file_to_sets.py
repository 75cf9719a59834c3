"""The whole way, as someone walks it who has a CSV and no Python: packages of debtags as text."""

import csv
import json

import numpy as np
import pytest

from setwise.data import load_dataset

N_TAGS = 20


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Files of packages, described by their words: train.csv and test.csv."""
    folder = tmp_path_factory.mktemp("packages")
    dataset = load_dataset("debtags")
    frequency = np.bincount(dataset.Y_train.indices, minlength=len(dataset.label_names))
    tags = set(np.argsort(-frequency)[:N_TAGS].tolist())
    words, labels = (np.array(names, dtype=object) for names in _names(dataset))
    for part, n in (("train", 900), ("test", 500)):
        X, Y = getattr(dataset, f"X_{part}"), getattr(dataset, f"Y_{part}")
        names = getattr(dataset, f"row_names_{part}")
        rows = np.random.default_rng(0).permutation(Y.shape[0])[:n].tolist()
        with open(folder / f"{part}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["package", "description", "tags"])
            for row in rows:
                own = [labels[j] for j in Y[[row]].indices.tolist() if j in tags]
                text = " ".join(words[X[[row]].indices])
                writer.writerow([names[row], text, ";".join(own)])
    return folder


def _names(dataset):
    return dataset.feature_names, dataset.label_names


def test_fit_predict_evaluate(run, packages):
    model, out = packages / "model.setwise", packages / "out.csv"
    code, _, err = run(
        "fit", packages / "train.csv", "--labels", "tags", "--text", "description",
        "--model", "BRRerank", "--option", "C=3", "--folds", 3, "--promise", "exact",
        "--held-out", 0.3, "--out", model, "--quiet",
    )  # fmt: skip
    assert (code, err) == (0, "")
    arguments = ("--top", 3, "--accept-accuracy", 0.6, "--out", out)
    assert run("predict", model, packages / "test.csv", *arguments)[0] == 0
    code, said, _ = run(
        "evaluate", model, packages / "test.csv", "--json", "--accept-accuracy", 0.6, "--draws", 5
    )
    assert code == 0
    facts = json.loads(said)
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    right = np.array(
        [set(row["predicted"].split(";")) == set(row["tags"].split(";")) for row in rows]
    )
    np.testing.assert_allclose(facts["measures"]["set_accuracy"]["value"], right.mean(), rtol=1e-12)
    assert right.mean() > 0.4
    accepted = np.array([row["decision"] == "accept" for row in rows])
    (rule,) = facts["accept"]
    assert rule["accepted"] == accepted.sum() > 0
    assert rule["right"] == right[accepted].sum()
    assert rule["kept"]
    assert right[accepted].mean() > right.mean()
