"""The conditional Bernoulli mixture as an estimator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from setwise.data.arguments import check_count
from setwise.data.formats.files import StrPath
from setwise.data.randomness import as_generator
from setwise.decisions import Decision, MostLikelySet, SampledMode
from setwise.distributions import Distribution
from setwise.errors import DataError
from setwise.learners.bank_problem import check_strength
from setwise.models.about import ANY_LEARNER, About
from setwise.models.base import SetClassifier
from setwise.models.cbm.auto import Trial, choose
from setwise.models.cbm.checkpoint import Checkpoints
from setwise.models.cbm.distribution import distribution_of
from setwise.models.cbm.features import AS_IS, Scaling
from setwise.models.cbm.fingerprint import fingerprint
from setwise.models.cbm.fit import Fitted, Settings, fit_mixture
from setwise.models.cbm.in_turn import Members, fit_in_turn
from setwise.models.cbm.inspection import Inspection, component_facts
from setwise.models.cbm.learners import check_learners, needs_scaling
from setwise.models.cbm.mixture import without_idle
from setwise.models.cbm.progress import Reports, progress
from setwise.models.cbm.search import Search, find_rounds
from setwise.models.cbm.stopping import STOPPING, Score, mean_log_likelihood, target_score
from setwise.storage import storable

SMALLEST_C = 1e-30  # beyond it, and its inverse, sums overflow in single precision
#: Parameters that make no difference to what is learnt.
NO_MATTER = ("checkpoint", "n_jobs", "verbose")


@storable
class CBM(Inspection, SetClassifier):
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
    l1_ratio : float
        The share of the lasso in the penalty of "elastic", from 0 (ridge) to 1.
    sharing : None, "labels" or "auto"
        "labels": one classifier a label for all components, with a bias a component, for
        "logistic" and for "boosting", whose trees may split on the component too; "auto" chooses
        on held-out rows.
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
        See ``setwise.models.cbm.features``; only "logistic", "elastic" and "tree" need it.
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
        Where to keep the state of EM between rounds, every five seconds or so; a fit that was
        killed, and is called again with the same rows and parameters, goes on from there. A
        finished fit removes it.
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
    stopping_curve_ : list, the held-out score after each round that ``stopping`` looked at
    weights_ : array (K,), the components' weights, averaged over the training rows
    label_rates_ : array (K, L), the share of each component's rows that have each label
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

    about: ClassVar[About] = About("Li 2016; Li 2019, 3", True, ANY_LEARNER, "n d L K")
    shows_rounds: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int | str = 20,
        learner: Any = "logistic",
        *,
        gate: Any = "auto",
        C: float | str = 10.0,
        l1_ratio: float = 0.5,
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
        self.l1_ratio = l1_ratio
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
        allow_empty = self._may_be_empty(Y)
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        busy = weight > 0
        if not busy.all():  # other rows are as if absent, whatever is in them
            X, Y, weight = X[busy], Y[busy], weight[busy]
            groups = None if groups is None else groups[busy]
        settings = self._settings()
        scaled_by = self.scale if needs_scaling(settings.learner, settings.gate) else AS_IS
        scaling = Scaling(scaled_by, self.dtype).fit(X, weight)
        scaled = partial(scaling.transform, X)  # made for each use: none holds it for long
        checkpoints = self._checkpoints(X, Y, weight, groups)
        trials: list[Trial] = []
        with progress(self.verbose) as reports:
            if "auto" in (settings.C, settings.n_components, settings.sharing):
                settings, trials = choose(
                    scaled(), Y, weight, groups, settings,
                    score=self._score(), share=self.validation_share,
                    allow_empty=allow_empty,
                )  # fmt: skip
            search = None
            if self.stopping != "bound":
                search = self._search(
                    scaled(), Y, weight, groups, settings, allow_empty, reports, checkpoints
                )
                settings = replace(settings, max_iter=search.rounds, tol=None)

            def fit(part: str, seed: int | None, drawn: np.ndarray) -> Fitted:
                return fit_mixture(
                    scaled(), Y, weight * drawn, replace(settings, random_state=seed),
                    report=reports("rounds", settings.max_iter),
                    checkpoint=checkpoints.part(part) if checkpoints else None,
                )  # fmt: skip

            if search is not None and search.fitted.was_interrupted:
                members = Members([search.fitted], False)
            else:
                members = fit_in_turn(
                    (partial(fit, *plan) for plan in self._plans(weight)),
                    search.fitted if search else None,
                )
        if checkpoints and members.are_all:
            checkpoints.remove()
        rows = scaled()
        mixtures = [without_idle(fitted.mixture, rows) for fitted in members.fitted]
        return {
            "scaling_": scaling,
            "members_": mixtures,
            "history_": [
                done | {"member": number}
                for number, fitted in enumerate(members.fitted)
                for done in fitted.history
            ],
            "chosen_": {
                "n_components": settings.n_components,
                "C": settings.C,
                "sharing": settings.sharing,
            },
            "trials_": [trial._asdict() for trial in trials],
            "stopping_curve_": search.curve if search else [],
            **component_facts(mixtures, rows, Y, weight),
        }

    def _plans(self, weight: np.ndarray) -> Iterator[tuple[str, int | None, np.ndarray]]:
        """For each member: its checkpoint's name, its seed, and how often each row is drawn."""
        drawn = np.ones(len(weight))
        if self.n_ensembles == 1 and not self.bootstrap:
            yield "", self.random_state, drawn
            return
        random = as_generator(self.random_state)
        busy = np.flatnonzero(weight)  # a draw of other rows only would leave nothing to learn
        for number in range(self.n_ensembles):
            seed = int(random.integers(2**31))
            if self.bootstrap:
                drawn = np.zeros(len(weight))
                drawn[busy] = random.multinomial(len(busy), np.full(len(busy), 1 / len(busy)))
            yield str(number), seed, drawn

    def _score(self) -> Score:
        """What held-out rows judge settings by: the target's metric where that stops EM."""
        by_target = self.stopping == "target"
        return target_score(self._decision()) if by_target else mean_log_likelihood

    def _search(
        self,
        X: Any,
        Y: sparse.csr_array,
        weight: np.ndarray,
        groups: Any,
        settings: Settings,
        allow_empty: bool,
        reports: Reports,
        checkpoints: Checkpoints | None,
    ) -> Search:
        """The number of rounds by held-out rows."""
        return find_rounds(
            X, Y, weight, groups, settings,
            score=self._score(), patience=self.patience, share=self.validation_share,
            allow_empty=allow_empty,
            report=reports("rounds without held-out rows", settings.max_iter),
            checkpoint=checkpoints.part("search") if checkpoints else None,
        )  # fmt: skip

    def _checkpoints(
        self, X: Any, Y: sparse.csr_array, weight: np.ndarray, groups: Any
    ) -> Checkpoints | None:
        """The files that the state is kept in, for these rows and parameters."""
        if self.checkpoint is None:
            return None
        if not isinstance(self.random_state, int | np.integer):
            raise DataError(
                "with a checkpoint, random_state must be an integer, or a fit that goes on would "
                f"not end like one that was not stopped; got {self.random_state!r}"
            )
        parameters = self.get_params(deep=False)
        matter = {name: parameters[name] for name in parameters if name not in NO_MATTER}
        return Checkpoints(self.checkpoint, fingerprint(X, Y, weight, groups, matter))

    def _decision(self) -> Decision:
        decision = super()._decision()
        if self.stopping == "target":
            target_score(decision)  # refuses what cannot be scored, before anything is learnt
        if self.n_samples is None:
            return decision
        check_count("n_samples", self.n_samples, at_least=1)
        if not isinstance(decision, MostLikelySet):
            raise DataError(
                f'n_samples is for target="set_accuracy", not {decision.target!r}; '
                "leave out n_samples"
            )
        return SampledMode(self.n_samples, self.random_state)

    def _distribution(self, X: Any) -> Distribution:
        return distribution_of(
            self.members_, X, len(self.label_names_),
            allow_empty=self.allow_empty_, n_jobs=self.n_jobs, transform=self.scaling_.transform,
        )  # fmt: skip

    def _settings(self) -> Settings:
        if self.n_components != "auto":
            check_count("n_components", self.n_components, at_least=1)
        for name in ("C", "l1_ratio", "min_label_share", "min_responsibility", "smoothing", "tol"):
            _check_number(name, getattr(self, name))
        if self.C != "auto":
            check_strength(self.C, 1)
            if not SMALLEST_C <= float(self.C) <= 1 / SMALLEST_C:
                raise DataError(f"C is between 1e-30 and 1e30, not {self.C!r}; try 10")
        check_count("n_ensembles", self.n_ensembles, at_least=1)
        check_count("n_starts", self.n_starts, at_least=1)
        check_count("max_iter", self.max_iter, at_least=1)
        check_count("inner_steps", self.inner_steps, at_least=1)
        check_count("patience", self.patience, at_least=1)
        if self.stopping not in STOPPING:
            raise DataError(f"stopping must be one of {', '.join(STOPPING)}, not {self.stopping!r}")
        for name in ("min_responsibility", "min_label_share"):
            if not 0 <= getattr(self, name) < 0.5:
                raise DataError(f"{name} is a share from 0 to below 0.5, not {getattr(self, name)}")
        if not self.smoothing > 0:
            raise DataError(f"smoothing must be above 0, not {self.smoothing!r}; try 0.1")
        if not 0 <= self.l1_ratio <= 1:
            raise DataError(f"l1_ratio is a share from 0 to 1, not {self.l1_ratio!r}; try 0.5")
        if self.sharing not in (None, "labels", "auto"):
            raise DataError(f'sharing must be None, "labels" or "auto", not {self.sharing!r}')
        if self.dtype not in ("float32", "float64"):
            raise DataError(f"dtype must be float32 or float64, not {self.dtype!r}")
        gate = self.learner if isinstance(self.gate, str) and self.gate == "auto" else self.gate
        check_learners(self.learner, gate)
        if self.C == "auto" and not needs_scaling(self.learner, gate):
            raise DataError('C="auto" needs a learner or gate with a penalty; leave out C')
        if self.sharing == "auto" and self.learner not in ("logistic", "boosting"):
            raise DataError(
                'sharing="auto" needs learner="logistic" or "boosting"; leave out sharing'
            )
        return Settings(
            n_components=self.n_components,
            learner=self.learner,
            gate=gate,
            C=self.C,
            l1_ratio=self.l1_ratio,
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
        return max(Counter(done["member"] for done in self.history_).values())


def _check_number(name: str, value: Any) -> None:
    is_auto = name == "C" and isinstance(value, str) and value == "auto"
    if not (is_auto or (isinstance(value, Real) and np.isfinite(float(value)))):
        raise DataError(f"{name} must be a finite number, not {value!r}; correct it")
