"""``setwise report``: one page about a model and rows whose labels are known."""

from __future__ import annotations

from setwise.commands.evaluate import read_and_judge, unknown_sentence
from setwise.commands.fit import check_writable
from setwise.commands.talk import Talk
from setwise.data.formats.files import write_atomically
from setwise.pipeline import Reading, load_model
from setwise.report import page_of, report_facts


def report_file(
    talk: Talk,
    model_path: str,
    path: str,
    out: str,
    reading: Reading,
    *,
    accuracy: float,
    draws: int,
) -> None:
    """Write the page, all at once or not at all."""
    check_writable(out)
    model = load_model(model_path)
    table, judged = read_and_judge(talk, model, path, reading)
    with talk.counting("drawing rows again", draws) as tick:
        facts = report_facts(model, table, judged, accuracy=accuracy, draws=draws, tick=tick)
    with write_atomically(out) as stream:
        stream.write(page_of(facts).encode())
    if judged.unknown:
        talk.warn(unknown_sentence(path, judged.unknown))
    if talk.as_json:
        talk.data({"out": out, **facts})
    else:
        talk.say(f"{out} is written; open it in a browser")
