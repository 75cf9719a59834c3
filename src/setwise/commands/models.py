"""``setwise models``: what ``--model`` takes; or, given a model's file, what is in it."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table as Shown
from rich.text import Text

from setwise.commands.fit import show_fit
from setwise.commands.talk import Talk
from setwise.pipeline import load_model
from setwise.pipeline.build import facts_of, model_names

COLUMNS = ("what", "joint", "paper", "cost")
WIDE = 110  # columns of text: a narrower terminal leaves out what a fit costs


def list_models(talk: Talk) -> None:
    """What each model is; ``--json`` says more, which a terminal has no room for."""
    facts = {"auto": {"what": "compares models on held-out rows and takes the best"}}
    facts |= {name: facts_of(name) for name in model_names()}
    if talk.as_json:
        talk.data(facts)
        return
    columns = COLUMNS if talk.out.width >= WIDE else COLUMNS[:-1]
    table = Shown("--model", *columns, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.columns[0].no_wrap = True
    for name, words in facts.items():
        short = words | {"joint": words.get("joint", "").partition(":")[0]}
        cells = (Text(short.get(column, "")) for column in columns)
        table.add_row(Text(name, style="bold"), *cells)
    talk.show(table)
    talk.say(
        "joint: has a probability for each whole set, more than the product of its labels; "
        "--json says more of each"
    )


def describe(talk: Talk, path: str) -> None:
    """What a model's file holds, and how it came about."""
    model = load_model(path)
    if talk.as_json:
        talk.data({"settings": model.settings, **model.facts_})
    else:
        show_fit(talk, model, path)
