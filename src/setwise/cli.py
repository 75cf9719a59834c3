"""The command line: arguments only; what a command does stands in ``setwise.commands``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from setwise import __version__
from setwise.commands.manners import run_politely

EXIT_CODES = """\
exit codes:
  0  all went well
  1  something that should not happen; --debug shows where
  2  the input or the arguments are wrong, as the message says
  3  the machine refused: the disk is full, a file may not be written, memory ran out
  130 stopped by Ctrl-C, 143 by the system; no half file is left
"""
START = """\
a first model from a CSV file of your own:
  setwise fit examples.csv --labels tags --text description --out model.setwise
  setwise predict model.setwise new.csv --out predicted.csv
"""
FIT = """\
examples:
  setwise fit tickets.csv --labels tags --text description --out model.setwise
  setwise fit tickets.csv --labels tags --text title body --model CBM --option n_components=30
  setwise fit photos.parquet --labels beach sunset urban --target f1 --out photos.setwise
  setwise fit tickets.csv --settings fit.toml --out model.setwise

fit.toml, where every option may stand; the command line goes first:
  labels = "tags"
  text = ["title", "body"]
  model = "CBM"
  [options]
  n_components = 30
"""
PREDICT = """\
examples:
  setwise predict model.setwise new.csv --out predicted.csv
  setwise predict model.setwise new.csv --top 3 --accept-accuracy 0.95 --keep id --out out.csv
  setwise predict model.setwise new.jsonl --probabilities --out out.parquet
  cat new.csv | setwise predict model.setwise - > predicted.csv

columns that are written behind those of the input: predicted, confidence (how likely the whole set
is right), decision (accept or review), alternative_1, alternative_1_probability, ...
"""
EVALUATE = """\
examples:
  setwise evaluate model.setwise test.csv
  setwise evaluate model.setwise test.csv --accept-accuracy 0.8 --all-labels
  setwise evaluate model.setwise test.csv --json > measures.json
"""
EXPLAIN = """\
examples:
  setwise explain model.setwise "the screen stays black after the update"
  setwise explain model.setwise new.csv --row 17
  setwise explain model.setwise '{"description": "a black screen", "age": 3}'
"""
REPORT = """\
example:
  setwise report model.setwise test.csv --out report.html
"""
MODELS = """\
examples:
  setwise models
  setwise models model.setwise
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the code that the help explains."""
    options = _parser().parse_args(arguments)
    return run_politely(lambda: options.run(options), debug=getattr(options, "debug", False))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="setwise",
        description="Predict sets of labels, and say how likely the whole set is right.",
        epilog=f"{START}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"setwise {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_fit(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    _add_report(commands)
    _add_explain(commands)
    _add_models(commands)

    demo = commands.add_parser("demo", help="a tour: bundled data, a model at work, measures")
    demo.add_argument("--rows", type=_positive, default=1000, help="test rows to predict (1000)")
    demo.set_defaults(run=_demo)

    datasets = commands.add_parser("datasets", help="list data sets with their statistics")
    datasets.add_argument("names", nargs="*", metavar="NAME", help="measure these in full")
    datasets.add_argument("--data", metavar="FOLDER", help="look here instead of $SETWISE_DATA")
    datasets.add_argument("--json", action="store_true", help="print JSON instead of a table")
    datasets.set_defaults(run=_datasets)

    bench = commands.add_parser("bench", help="run experiments and print their tables")
    actions = bench.add_subparsers(title="actions", required=True, metavar="ACTION")
    actions.add_parser("list", help="list the experiments").set_defaults(run=_bench_list)
    bench_run = actions.add_parser("run", help="run experiments")
    bench_run.add_argument(
        "names", metavar="NAME", nargs="+", help="as `setwise bench list` shows them"
    )
    bench_run.add_argument(
        "--data", metavar="DATASET", nargs="+", default=[], help="only these data sets"
    )
    bench_run.add_argument("--json", metavar="FILE", help="write the results there as well")
    bench_run.set_defaults(run=_bench_run)

    warmup = commands.add_parser("warmup", help="compile all kernels now, so that no call waits")
    warmup.set_defaults(run=_warmup)

    completion = commands.add_parser("completion", help="print a script that completes commands")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(run=lambda options: _completion(options, parser))
    for command in set(commands.choices.values()):
        command.add_argument("--debug", action="store_true", help="show where an error came from")
    return parser


def _add_fit(commands: Any) -> None:
    # Options that are not given are absent, so that those of a file of settings can stand.
    fit = _command(commands, "fit", "learn from a file of examples", FIT, _fit)
    fit.argument_default = argparse.SUPPRESS
    fit.add_argument("data", metavar="FILE", help="CSV, JSONL or Parquet; - is standard input")
    fit.add_argument("--out", metavar="MODEL", required=True, help="where to write the model")
    fit.add_argument(
        "--settings", metavar="TOML", default=None, help="a file of options, by their names"
    )
    _list(fit, "--labels", "one column of separated names, or several 0/1 columns")
    fit.add_argument(
        "--label-separator", metavar="TEXT", help="between names; guessed from , | and ;"
    )
    _list(fit, "--text", "columns of text; columns that are not named are guessed")
    _list(fit, "--number", "columns of numbers")
    _list(fit, "--category", "columns with some values that repeat")
    _list(fit, "--ignore", "columns to leave out, such as identifiers")
    fit.add_argument("--groups", metavar="COLUMN", help="rows that share its value stay together")
    fit.add_argument("--model", metavar="NAME", help="auto (default), or one of `setwise models`")
    fit.add_argument(
        "--option", metavar="NAME=VALUE", action="append", type=_pair, dest="options",
        help="a parameter of the model, may be repeated",
    )  # fmt: skip
    fit.add_argument(
        "--target", metavar="MEASURE",
        help="what predictions are best for: set_accuracy (default), f1, hamming, micro_f1, "
        "macro_f1, jaccard, ...",
    )  # fmt: skip
    fit.add_argument(
        "--promise", choices=("auto", "exact", "approximate"),
        help="exact: rows are kept apart for the accept rule; approximate: all rows train",
    )  # fmt: skip
    fit.add_argument("--held-out", metavar="SHARE", type=float, help="rows kept apart (0.2)")
    fit.add_argument("--budget", metavar="SECONDS", type=float, help="for auto, about (300)")
    fit.add_argument("--max-words", metavar="N", type=int, help="known words of a column (50000)")
    fit.add_argument("--min-rows", metavar="N", type=int, help="a known word is in so many (2)")
    fit.add_argument("--ngrams", metavar="N", type=int, help="words in a row that count as one (1)")
    fit.add_argument("--folds", metavar="N", type=int, help="of the calibrator (5, or 3)")
    fit.add_argument("--seed", metavar="N", type=int, help="of all that chance decides (0)")
    fit.add_argument("--jobs", metavar="N", type=int, help="threads (all cores)")
    _reading(fit)


def _add_predict(commands: Any) -> None:
    predict = _command(
        commands, "predict", "label sets for new rows, with confidence", PREDICT, _predict
    )
    _model_and_data(predict, "rows to predict")
    predict.add_argument(
        "--out", metavar="FILE", default="-",
        help="CSV, JSONL or Parquet, told by the name; standard output where it is left out",
    )  # fmt: skip
    predict.add_argument(
        "--out-format", choices=("csv", "jsonl", "parquet"), help="where the name does not tell"
    )
    predict.add_argument(
        "--top", metavar="K", type=_positive, default=1, help="so many sets in all (1)"
    )
    _accuracy(predict, 0.9)
    predict.add_argument(
        "--keep", metavar="COLUMN", nargs="*", help="columns of the input to copy (all)"
    )
    predict.add_argument(
        "--probabilities", action="store_true", help="the probability of every label, too"
    )
    _reading(predict)


def _add_evaluate(commands: Any) -> None:
    evaluate = _command(
        commands, "evaluate", "how good a model is on labelled rows", EVALUATE, _evaluate
    )
    _model_and_data(evaluate, "rows with their labels")
    _accuracy(evaluate, None)
    evaluate.add_argument(
        "--draws", metavar="N", type=_positive, default=200, help="of the bootstrap (200)"
    )
    evaluate.add_argument("--all-labels", action="store_true", help="a line for every label")
    _reading(evaluate)


def _add_report(commands: Any) -> None:
    report = _command(commands, "report", "the same and more, as a page to open", REPORT, _report)
    _model_and_data(report, "rows with their labels")
    report.add_argument("--out", metavar="HTML", default="report.html", help="(report.html)")
    _accuracy(report, 0.9)
    report.add_argument(
        "--draws", metavar="N", type=_positive, default=200, help="of the bootstrap (200)"
    )
    _reading(report)


def _add_explain(commands: Any) -> None:
    explain = _command(commands, "explain", "why a row gets its set", EXPLAIN, _explain)
    explain.add_argument("model", metavar="MODEL", help="a file that `setwise fit` wrote")
    explain.add_argument("row", metavar="ROW", help="a text, a JSON object, or a file")
    explain.add_argument(
        "--row", metavar="N", dest="number", type=_positive, default=1, help="of the file (1)"
    )
    _accuracy(explain, 0.9)
    _reading(explain)


def _add_models(commands: Any) -> None:
    models = _command(commands, "models", "list models, or tell what a file holds", MODELS, _models)
    models.add_argument("model", metavar="MODEL", nargs="?", help="a file that `setwise fit` wrote")


def _command(commands: Any, name: str, words: str, examples: str, run: Any) -> Any:
    command = commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--quiet", action="store_true", default=False, help="say nothing but results and errors"
    )
    command.add_argument(
        "--json", action="store_true", default=False, help="print results as JSON, for programs"
    )
    command.set_defaults(run=run)
    return command


def _model_and_data(command: Any, words: str) -> None:
    command.add_argument("model", metavar="MODEL", help="a file that `setwise fit` wrote")
    command.add_argument(
        "data", metavar="FILE", help=f"{words}: CSV, JSONL or Parquet; - is standard input"
    )


def _reading(command: Any) -> None:
    command.add_argument(
        "--format", choices=("csv", "jsonl", "parquet"), default=None, help="of the file read"
    )  # fmt: skip
    command.add_argument("--delimiter", metavar="TEXT", default=None, help="of CSV; guessed")
    command.add_argument("--encoding", metavar="NAME", default="utf-8", help="of text (utf-8)")


def _accuracy(command: Any, default: float | None) -> None:
    shown = f"({default:g})" if default else "(0.8, 0.9 and 0.95)"
    command.add_argument(
        "--accept-accuracy", metavar="SHARE", type=_share, default=default,
        help=f"how often accepted sets shall be right {shown}",
    )  # fmt: skip


def _list(command: Any, option: str, words: str) -> None:
    command.add_argument(option, metavar="COLUMN", nargs="+", help=words)


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {text!r}")
    return number


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"expected a share between 0 and 1, got {text!r}")
    return number


def _pair(text: str) -> tuple[str, Any]:
    """``n_components=30`` as a name and a value; what is no JSON is a word."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


# Commands are imported when they run: `setwise --help` stays instant.


def _talk(options: argparse.Namespace) -> Any:
    from setwise.commands.talk import Talk

    return Talk(quiet=options.quiet, as_json=options.json)


def _how(options: argparse.Namespace) -> Any:
    from setwise.pipeline import Reading

    return Reading(options.format, options.delimiter, options.encoding)


def _fit(options: argparse.Namespace) -> None:
    from setwise.commands.fit import fit_file

    beside = ("data", "out", "settings", "run", "quiet", "json", "debug")
    reading = ("format", "delimiter", "encoding")
    given = {
        name: value for name, value in vars(options).items() if name not in (*beside, *reading)
    }
    if "options" in given:
        given["options"] = dict(given["options"])
    fit_file(_talk(options), options.data, options.out, given, options.settings, _how(options))


def _predict(options: argparse.Namespace) -> None:
    from setwise.commands.predict import Wanted, predict_file

    wanted = Wanted(
        top=options.top,
        accuracy=options.accept_accuracy,
        keep=None if options.keep is None else tuple(options.keep),
        probabilities=options.probabilities,
    )
    predict_file(
        _talk(options), options.model, options.data, options.out, wanted, _how(options),
        options.out_format,
    )  # fmt: skip


def _evaluate(options: argparse.Namespace) -> None:
    from setwise.commands.evaluate import evaluate_file

    evaluate_file(
        _talk(options), options.model, options.data, _how(options),
        draws=options.draws, accuracy=options.accept_accuracy, all_labels=options.all_labels,
    )  # fmt: skip


def _report(options: argparse.Namespace) -> None:
    from setwise.commands.report import report_file

    report_file(
        _talk(options), options.model, options.data, options.out, _how(options),
        accuracy=options.accept_accuracy, draws=options.draws,
    )  # fmt: skip


def _explain(options: argparse.Namespace) -> None:
    from setwise.commands.explain import explain_one

    explain_one(
        _talk(options), options.model, options.row, options.number, _how(options),
        options.accept_accuracy,
    )  # fmt: skip


def _models(options: argparse.Namespace) -> None:
    from setwise.commands.models import describe, list_models

    if options.model is None:
        list_models(_talk(options))
    else:
        describe(_talk(options), options.model)


def _completion(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    from setwise.commands.completion import script

    sys.stdout.write(script(parser, options.shell))


def _demo(options: argparse.Namespace) -> None:
    from setwise.commands.demo import tour

    tour(Console(), options.rows)


def _datasets(options: argparse.Namespace) -> None:
    from setwise.commands.datasets import list_known, measure

    show = measure if options.names else list_known
    show(Console(), options.names, data_home=options.data, as_json=options.json)


def _bench_list(options: argparse.Namespace) -> None:
    from setwise.commands.bench import list_entries

    list_entries(Console())


def _bench_run(options: argparse.Namespace) -> None:
    from setwise.commands.bench import run_named

    run_named(Console(), options.names, options.data, options.json)


def _warmup(options: argparse.Namespace) -> None:
    from setwise.commands.warmup import compile_everything

    compile_everything(Console())
