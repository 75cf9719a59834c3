"""Looking into a fitted mixture: why a row gets its labels, and what the components are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from setwise.data.arguments import check_count
from setwise.data.labels import Label
from setwise.models.cbm.components_table import (
    ComponentTable,
    component_table,
    label_rates,
    mean_weights,
)
from setwise.models.cbm.contributions import Member, checked_names, feature_names
from setwise.models.cbm.explain import Explanation, Limits, explain_row, one_row


class Inspection:
    """What ``CBM`` can tell about itself."""

    members_: list[Any]
    weights_: np.ndarray  # (K,)
    label_rates_: np.ndarray  # (K, L)
    n_features_in_: int

    def explain(
        self,
        x: Any,
        *,
        label_names: Sequence[Label] | None = None,
        feature_names: Sequence[str] | None = None,
        n_components: int = 4,
        n_sets: int = 5,
        n_near: int = 5,
        n_features: int = 5,
    ) -> Explanation:
        """What is behind the prediction for one row: print it, ``plot()`` it, ``to_dict()``.

        Parameters
        ----------
        x : array (d,) or (1, d), sparse row, or DataFrame of one row
        label_names, feature_names : sequences of str, optional
            What to call labels and features; by default as in the fit.
        n_components, n_sets, n_features : int
            How many components, best sets, and features for and against a label to tell about.
        n_near : int
            How many labels outside the likeliest set; those above one half are always told.
        """
        limits = Limits(n_components, n_sets, n_near, n_features)
        names = self._names(label_names, feature_names)
        return self._explained(one_row(x), limits, *names)[0]

    def explain_rows(
        self,
        X: Any,
        *,
        label_names: Sequence[Label] | None = None,
        feature_names: Sequence[str] | None = None,
        **how_many: int,
    ) -> list[Explanation]:
        """``explain`` for each of a few rows, with the same arguments."""
        names = self._names(label_names, feature_names)
        return self._explained(X, Limits(**how_many), *names)

    def components(
        self,
        *,
        label_names: Sequence[Label] | None = None,
        feature_names: Sequence[str] | None = None,
        n_features: int = 5,
    ) -> ComponentTable:
        """A table of all components, the heaviest first: print it, ``plot()`` it, ``to_frame()``.

        Parameters
        ----------
        label_names, feature_names : sequences of str, optional
            What to call labels and features; by default as in the fit.
        n_features : int
            How many typical features of a component to tell, if the gate is linear.
        """
        labels, features = self._names(label_names, feature_names)
        check_count("n_features", n_features, at_least=0)
        return component_table(
            self.members_, self.weights_, self.label_rates_, labels, features, n_features
        )

    def _explained(
        self, X: Any, limits: Limits, labels: Sequence[Label], features: Sequence[str]
    ) -> list[Explanation]:
        model: Any = self
        predicted, rows = model._decided(X), model._features(X)
        scaled = model.scaling_.transform(rows)
        return [
            explain_row(
                model._distribution(rows[[row]]),
                predicted[row],
                labels,
                limits,
                (self.members_, scaled[[row]], features),
            )
            for row in range(rows.shape[0])
        ]

    def _names(
        self, labels: Sequence[Label] | None, features: Sequence[str] | None
    ) -> tuple[list[Label], list[str]]:
        check_is_fitted(self, "members_")
        known: Any = self
        named = known.label_names_ if labels is None else labels
        return (
            checked_names(named, len(known.label_names_), "label"),
            feature_names(features, getattr(self, "feature_names_in_", None), self.n_features_in_),
        )


def component_facts(
    members: Sequence[Member], X: Any, Y: sparse.csr_array, weight: np.ndarray
) -> dict[str, np.ndarray]:
    """What a fit keeps about the components, from its scaled rows; see ``components_table``."""
    return {
        "weights_": mean_weights(members, X, weight),
        "label_rates_": label_rates(members, X, Y, weight),
    }
