"""The arguments of the topic models: presets, the paper's rules for what is "auto", and checks."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from setwise.data.arguments import check_over_zero
from setwise.distributions.base import positive_count
from setwise.errors import DataError
from setwise.metrics.options import check_choice
from setwise.models.topics import hyperparameters as rules
from setwise.models.topics.inference import Prior, Sampling

INFERENCES = ("fast", "proper")


class Arguments:
    """What the arguments of a model mean."""

    preset: str
    n_label_tokens: int

    def _rule(self, n_labels: int, n_topics: int) -> Prior:
        """The prior's weights by the paper's rules, for what is "auto"."""
        raise NotImplementedError

    def _settings(self) -> rules.Preset:
        check_choice("preset", self.preset, tuple(rules.PRESETS))
        values = asdict(rules.PRESETS[self.preset])
        for field in fields(rules.Preset):
            given = getattr(self, field.name, None)
            if given is not None:
                at_least_zero = field.name.endswith("burn_in")
                values[field.name] = (
                    _whole(given, field.name)
                    if at_least_zero
                    else positive_count(given, field.name)
                )
        return rules.Preset(**values)

    def _sampling(self, settings: rules.Preset) -> Sampling:
        inference = getattr(self, "inference", "fast")
        check_choice("inference", inference, INFERENCES)
        tokens = (
            positive_count(self.n_label_tokens, "n_label_tokens") if inference == "proper" else 0
        )
        return Sampling(
            settings.n_chains, settings.burn_in, settings.n_samples, settings.thin, tokens
        )

    def _prior(self, n_labels: int, n_topics: int) -> Prior:
        for name in ("beta_words", "train_eta", "train_gamma"):
            _over_zero(getattr(self, name, 1.0), name)
        rule = asdict(self._rule(n_labels, n_topics))
        for name in ("eta", "alpha", "gamma", "beta_labels"):
            given = getattr(self, name, "auto")
            if isinstance(given, str):
                if given != "auto":
                    raise DataError(f'{name} is a number over zero or "auto", not {given!r}')
            else:
                rule[name] = _over_zero(given, name)
        rule.pop("beta_labels", None)
        rule["final"] = _over_zero(getattr(self, "prior_weight", 1.0), "prior_weight")
        return Prior(**rule)


def _over_zero(value: Any, name: str) -> float:
    check_over_zero(name, value)
    return float(value)


def _whole(value: Any, name: str) -> int:
    if int(value) != value or value < 0:
        raise DataError(f"{name} is a whole number from 0 on, got {value!r}")
    return int(value)
