"""The conditional Bernoulli mixture as an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.data.formats.files import StrPath
from setwise.decisions import Decision
from setwise.distributions import BernoulliMixture, Distribution
from setwise.distributions.batched import BATCH_CELLS, Batched
from setwise.errors import DataError
from setwise.models.base import SetClassifier
from setwise.models.cbm.features import Scaling
from setwise.models.cbm.fit import Settings, fit_mixture
from setwise.models.cbm.mixture import ConditionalMixture
from setwise.models.cbm.shared import SharedMixture
from setwise.storage import storable


@storable
class CBM(SetClassifier):
    """p(y|x) = sum over k of π_k(x) prod over l of b_kl(y_l | x).

    Parameters
    ----------
    n_components : int or "auto"
        K; "auto" chooses it on held-out rows.
    learner : {"logistic", "elastic", "boosting"} or scikit-learn classifier
        What learns the labels inside a component.
    gate : {"auto", "logistic", "elastic", "boosting", "tree"} or scikit-learn classifier
        What learns the weights of the components; "auto": the same kind as ``learner``.
    C : float or "auto"
        Inverse strength of the penalty, in scikit-learn's terms, on features as ``scale`` leaves
        them; "auto" chooses it on held-out rows.
    sharing : None or "labels"
        "labels": one classifier a label for all components, with a bias a component.
    target : str or Decision
        The metric that predictions are made for, see ``setwise.decisions``.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    min_responsibility : float
        A row takes no part in components that are less responsible for it; 0 is dense.
    min_label_share : float
        A label that less than this share of a component's rows have, or lack, gets a constant
        there instead of a classifier; 0 is dense.
    smoothing : float
        Rows with the labels' overall frequencies that are added to each component's constants.
    scale : {"auto", "none"}
        See ``setwise.models.cbm.features``.
    max_iter : int
        Rounds of EM at most.
    stopping : {"bound", "held_out", "target"}
        What ends EM before: the bound gains less than ``tol`` of itself in a round, or the
        log-likelihood, or the target metric, of held-out rows has not risen for ``patience``
        rounds. The last two find the number of rounds, and then fit all rows with it.
    tol, patience, validation_share : float, int, float
        For ``stopping``; the share of rows held out is also that for "auto".
    inner_steps : int
        Steps of the learners in each round (trees a label, of "boosting").
    n_starts : int
        Random starts of the Bernoulli mixture that EM begins with.
    n_ensembles : int
        So many mixtures are averaged, which is again a Bernoulli mixture.
    bootstrap : bool
        Whether each of them sees a bootstrap sample of the rows, not all of them.
    n_samples : int, optional
        Predict the likeliest of so many sampled sets instead of the likeliest set (section 3.6.1);
        for ``target="set_accuracy"``.
    checkpoint : path, optional
        Where to keep the state of EM after each round; a fit that was killed goes on from there.
    dtype : {"float32", "float64"}
        What the learners compute in.
    random_state : int
        Seeds what chance decides.
    n_jobs : int, optional
        Threads; all cores by default. Results do not depend on it.
    verbose : int or "auto"
        0 is silent, 1 shows a progress bar, "auto" shows one on a terminal.

    Attributes
    ----------
    members_ : list of ``ConditionalMixture``, one unless there is an ensemble
    history_ : list of dicts, what each round reached
    label_names_ : tuple of the labels' names

    Examples
    --------
    Two labels, of which exactly one is there, whatever the features say:

    >>> Y = np.array([[1, 0], [0, 1]] * 50)
    >>> model = CBM(n_components=2).fit(np.ones((100, 1)), Y)
    >>> dist = model.predict_dist(np.ones((1, 1)))
    >>> dist.marginals().round(1).tolist(), float(dist.correlation()[0, 0, 1].round(1))
    ([[0.5, 0.5]], -1.0)
    """

    def __init__(
        self,
        n_components: int | str = 20,
        learner: Any = "logistic",
        *,
        gate: Any = "auto",
        C: float | str = 10.0,
        sharing: str | None = None,
        target: str | Decision = "set_accuracy",
        allow_empty: bool | str = "auto",
        min_responsibility: float = 1e-5,
        min_label_share: float = 1e-5,
        smoothing: float = 0.1,
        scale: str = "auto",
        max_iter: int = 20,
        stopping: str = "bound",
        tol: float = 1e-3,
        patience: int = 3,
        validation_share: float = 0.2,
        inner_steps: int = 4,
        n_starts: int = 10,
        n_ensembles: int = 1,
        bootstrap: bool = False,
        n_samples: int | None = None,
        checkpoint: StrPath | None = None,
        dtype: str = "float32",
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int | str = 0,
    ) -> None:
        self.n_components = n_components
        self.learner = learner
        self.gate = gate
        self.C = C
        self.sharing = sharing
        self.target = target
        self.allow_empty = allow_empty
        self.min_responsibility = min_responsibility
        self.min_label_share = min_label_share
        self.smoothing = smoothing
        self.scale = scale
        self.max_iter = max_iter
        self.stopping = stopping
        self.tol = tol
        self.patience = patience
        self.validation_share = validation_share
        self.inner_steps = inner_steps
        self.n_starts = n_starts
        self.n_ensembles = n_ensembles
        self.bootstrap = bootstrap
        self.n_samples = n_samples
        self.checkpoint = checkpoint
        self.dtype = dtype
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, X: Any, Y: sparse.csr_array, sample_weight: Any, groups: Any
    ) -> dict[str, Any]:
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        scaling = Scaling(self.scale, self.dtype).fit(X, weight)
        fitted = fit_mixture(scaling.transform(X), Y, weight, self._settings())
        return {
            "scaling_": scaling,
            "members_": [fitted.mixture],
            "history_": fitted.history,
        }

    def _distribution(self, X: Any) -> Distribution:
        n, L = X.shape[0], len(self.label_names_)
        K = sum(len(member.components_) for member in self.members_)
        size = max(1, BATCH_CELLS // (K * L))
        if n <= size:
            return self._mixture(X)
        return Batched(
            lambda rows: self._mixture(X[rows]), np.arange(n), L, size, self.allow_empty_
        )

    def _mixture(self, X: Any) -> BernoulliMixture:
        """p(y|x) of a few rows, all components of all members side by side."""
        X = self.scaling_.transform(X)
        members: list[ConditionalMixture | SharedMixture] = self.members_
        log_pi = np.hstack([member.log_weights(X) for member in members]) - np.log(len(members))
        Z = np.zeros((X.shape[0], log_pi.shape[1], len(self.label_names_)), self.dtype)
        first = 0
        for member in members:
            last = first + len(member.components_)
            if isinstance(member, ConditionalMixture):
                member.fill_logits(X, Z[:, first:last], log_pi[:, first:last] > -np.inf)
            else:
                member.fill_logits(X, Z[:, first:last])
            first = last
        return BernoulliMixture(log_pi, Z, self.allow_empty_, self.n_jobs)

    def _settings(self) -> Settings:
        check_count("n_components", self.n_components, at_least=1)
        check_count("max_iter", self.max_iter, at_least=1)
        check_count("inner_steps", self.inner_steps, at_least=1)
        for name in ("min_responsibility", "min_label_share"):
            if not 0 <= getattr(self, name) < 0.5:
                raise DataError(f"{name} is a share from 0 to below 0.5, not {getattr(self, name)}")
        if not self.smoothing > 0:
            raise DataError(f"smoothing must be above 0, not {self.smoothing!r}; try 0.1")
        if self.sharing not in (None, "labels"):
            raise DataError(f'sharing must be None or "labels", not {self.sharing!r}')
        if self.dtype not in ("float32", "float64"):
            raise DataError(f"dtype must be float32 or float64, not {self.dtype!r}")
        return Settings(
            n_components=self.n_components,
            learner=self.learner,
            gate=self.learner if self.gate == "auto" else self.gate,
            C=self.C,
            least=self.min_responsibility,
            margin=self.min_label_share,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
            steps=self.inner_steps,
            n_starts=self.n_starts,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            sharing=self.sharing,
        )

    def _iterations(self) -> int:
        return len(self.history_)
