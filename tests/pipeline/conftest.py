"""A small table whose labels follow from its columns, and a model of it."""

import csv

import numpy as np
import pytest

from setwise.pipeline import FitSettings, Table, fit_table

WORDS = {
    "network": "router cable offline signal",
    "screen": "display black flicker pixel",
    "billing": "invoice charge refund payment",
    "urgent": "immediately broken outage help",
}
FILLERS = [
    "the",
    "a",
    "please",
    "after",
    "update",
    "yesterday",
    "customer",
    "said",
    "it",
    "was",
    "not",
    "really",
    "when",
]


def made_rows(n, seed=0, noise=0.15):
    """Tickets: text with words of their labels, a number and a category that speak for one each."""
    random = np.random.default_rng(seed)
    names = list(WORDS)
    rows = []
    for number in range(n):
        labels = [name for name in names if random.random() < 0.35]
        if "network" in labels and "urgent" not in labels and random.random() < 0.7:
            labels.append("urgent")
        words = list(random.choice(FILLERS, 5))
        if random.random() > noise:  # else the text says nothing, and one cannot be sure
            words += [w for name in labels for w in random.choice(WORDS[name].split(), 2)]
        random.shuffle(words)
        age = random.normal(60 if "billing" in labels else 30, 8)
        rows.append(
            {
                "id": f"T-{seed}-{number}",
                "description": " ".join(words),
                "age": "" if random.random() < 0.1 else f"{age:.1f}",
                "plan": "gold" if "urgent" in labels and random.random() < 0.8 else "basic",
                "tags": "|".join(sorted(labels)),
            }
        )
    return rows


def as_table(rows, source="tickets.csv"):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return Table(columns, range(2, len(rows) + 2), source)


def write_rows(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="session")
def tickets():
    return made_rows


@pytest.fixture(scope="session")
def train_table():
    return as_table(made_rows(400))


@pytest.fixture(scope="session")
def test_table():
    return as_table(made_rows(300, seed=1))


@pytest.fixture(scope="session")
def model(train_table):
    settings = FitSettings(
        labels=("tags",), model="BRRerank", options={"C": 1.0}, folds=3, promise="exact"
    )
    return fit_table(train_table, settings)
