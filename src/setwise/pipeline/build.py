"""Models by their names, each with a calibrator around it that says how sure to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import signature
from typing import Any

from setwise.calibration import BRRerank, Reranker, SetCalibrator
from setwise.errors import DataError
from setwise.models import MODELS, NEURAL, OF_COUNTS, list_models
from setwise.pipeline.named_sets import NAMERS, SetNamer
from setwise.pipeline.settings import FitSettings

RERANKED = "BRRerank"
RERANKED_FOR = ("set_accuracy", "f1")  # the targets by which it can choose among its candidates
AVERAGE = "ModelAverage"
RERANKED_AVERAGE = "Reranker"
RERANKERS = {RERANKED: BRRerank, RERANKED_AVERAGE: Reranker}
KERNEL = "KernelModel"
FOLDS = 5
#: In the calibrator of a reranker: of five, averaged, .002 more sets are right than of one on folds
#: of the training rows of six data sets (between .001 fewer and .006 more), and cost seconds.
BOOSTERS = 5

#: One line on each model, for `setwise models`; others are told by their documentation.
ABOUT = {
    "BinaryRelevance": "one classifier a label, independent of each other; the fast baseline",
    "BRRerank": "binary relevance, its likeliest sets judged as wholes; for set accuracy or F1",
    "CBM": "conditional Bernoulli mixture: labels that go together are predicted together",
    "ModelAverage": "several models, each with the weight that held-out rows give it; the slowest",
    "Reranker": "several models, their likeliest sets judged as wholes; for set accuracy or F1",
    "PowerSet": "one class for each set seen in training; for few different sets",
}


@dataclass(frozen=True)
class Choice:
    """A model by name, with parameters of its own."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


def model_names() -> list[str]:
    """The names that ``--model`` takes, beside "auto".

    >>> "CBM" in model_names()
    True
    """
    return sorted({*list_models(of_counts=True), RERANKED})


def about(name: str) -> str:
    """One line on a model.

    >>> about("TunedSVM")
    'one linear SVM a label'
    """
    if name in ABOUT:
        return ABOUT[name]
    line = (_class_of(name).__doc__ or name).strip().split("\n")[0].rstrip(".")
    is_word = line[1:2].islower() or line[1:2] == " "
    return line[0].lower() + line[1:] if is_word else line


def facts_of(name: str) -> dict[str, str]:
    """A model in words: what it is, its paper, whether it is joint, its learners, its cost.

    Last, whether its file may hold training rows.
    """
    held = {"keeps_rows": "yes" if keeps_rows(Choice(name)) else "no"}
    return {"what": about(name), **_class_of(name).about.said, **held}  # type: ignore[attr-defined]


def note_on(name: str) -> str:
    """What somebody should know who reads a model's confidence; mostly nothing.

    >>> note_on("CBM")
    ''
    """
    cls = _class_of(name)
    if not issubclass(cls, NAMERS):
        return ""
    return (
        f"{name} has no probability of sets ({cls.about.why_not}): confidence is how often what it "
        "says came true in rows that it had not seen"
    )


def keeps_rows(choice: Choice) -> bool:
    """Whether the file of such a model may hold training rows themselves.

    >>> keeps_rows(Choice("CBM")), keeps_rows(Choice("LPkNN"))
    (False, True)
    """
    inside = [choice.options.get("inside"), *choice.options.get("members", [])]
    return _class_of(choice.name).about.keeps_rows or any(  # type: ignore[attr-defined]
        keeps_rows(Choice(one["model"], one["options"])) for one in inside if one
    )


def takes_counts(name: str) -> bool:
    """Whether a model reads counts of words, where others read tf-idf.

    >>> takes_counts("DependencyLDA"), takes_counts("CBM"), takes_counts("auto")
    (True, False, False)
    """
    return name != "auto" and getattr(_class_of(name), "takes", "features") == "counts"


def bare_model(choice: Choice, settings: FitSettings) -> Any:
    """The model alone, which predicts what its calibrated form predicts."""
    given = {"target": settings.target, **_common(settings), **choice.options}
    if choice.name in RERANKERS:
        if settings.target not in RERANKED_FOR:
            raise DataError(
                f"{choice.name} chooses sets for set accuracy or F1, not for {settings.target!r}; "
                "pass --target set_accuracy or f1, or another --model"
            )
        given = reranker_options(settings) | given
    if choice.name == KERNEL and "inside" in given:
        given["estimator"] = _part(given.pop("inside"), settings)
    if choice.name == RERANKED_AVERAGE and "members" not in given:
        raise DataError(
            f"{choice.name} is what auto makes of the models that it compares; "
            f"pass --model auto, or {RERANKED} to rerank binary relevance"
        )
    if choice.name in (AVERAGE, RERANKED_AVERAGE) and "members" in given:
        several = _several(given.pop("members"), settings)
        if choice.name == RERANKED_AVERAGE:
            several = {"estimator": _made(AVERAGE, {**_common(settings), **several})}
        given |= several
    return _made(choice.name, given)


def reranker_options(settings: FitSettings) -> dict[str, Any]:
    """What all rerankers here are told; their own confidence for F1 would be the F1 to expect."""
    return {
        "n_folds": folds_of(settings),
        "confidence_in": "set_accuracy",
        "n_boosters": BOOSTERS,
    }


def _several(members: Any, settings: FitSettings) -> dict[str, Any]:
    """Models of an average, and their weights."""
    if not isinstance(members, list):
        raise DataError(f"members is a list of models, not {members!r}; auto finds it")
    return {
        "estimators": [_part(member, settings) for member in members],
        "weights": [member.get("weight", 1.0) for member in members],
    }


def _part(given: Any, settings: FitSettings) -> Any:
    """A model inside another; what sets it would choose by itself does not matter."""
    if not (isinstance(given, dict) and {"model", "options"} <= set(given)):
        raise DataError(
            f"a model inside another is an object with model and options, not {given!r}; "
            "auto finds it: pass --model auto"
        )
    return bare_model(Choice(given["model"], given["options"]), settings)


def with_confidence(choice: Choice, settings: FitSettings) -> SetCalibrator:
    """The model with calibrated confidence that its set, as a whole, is right."""
    model = bare_model(choice, settings)
    if isinstance(model, SetCalibrator):
        return model
    if isinstance(model, NAMERS):
        model = SetNamer(model, **_common(settings))
    return SetCalibrator(model, n_folds=folds_of(settings), **_common(settings))


def folds_of(settings: FitSettings) -> int:
    """How many folds, also where the settings leave it open."""
    return FOLDS if settings.folds is None else settings.folds


def _common(settings: FitSettings) -> dict[str, Any]:
    return {"random_state": settings.seed, "n_jobs": settings.jobs}


def _class_of(name: str) -> type:
    known = MODELS | NEURAL | OF_COUNTS | RERANKERS
    if name not in known:
        names = ["auto", *model_names()]
        near = get_close_matches(name.lower(), [one.lower() for one in names], 1)
        hint = next((one for one in names if [one.lower()] == near), None)
        there = f"did you mean {hint!r}?" if hint else f"there are: {', '.join(names)}"
        raise DataError(f"there is no model {name!r}; {there}")
    return known[name]


def _made(name: str, given: dict[str, Any]) -> Any:
    cls = _class_of(name)
    known = signature(cls).parameters
    odd = [option for option in given if option not in known]
    if odd:
        raise DataError(f"{name} has no option {odd[0]!r}; its options are {', '.join(known)}")
    return cls(**given)
