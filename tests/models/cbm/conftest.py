"""What tests of fits share: rows, short fits and a way to stop them; a look for NaN everywhere."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import setwise as sw
from setwise.models.cbm.em import EM

ROUNDS = 6


def make_rows(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    sides = random.normal(size=(2, 4, 5))
    scores = np.where(X[:, :1] > 0, X @ sides[0], X @ sides[1])
    return X, (scores + random.normal(size=scores.shape) > 0.3).astype(int)


def make_model(**options):
    # tol=-1 never ends EM: some rounds of a float32 fit gain nothing
    return sw.CBM(**{"n_components": 3, "max_iter": ROUNDS, "tol": -1.0, "n_starts": 2} | options)


@pytest.fixture
def rounds():
    """How many rounds ``model`` takes."""
    return ROUNDS


@pytest.fixture
def rows():
    """Makes X (n, 4) and Y (n, 5)."""
    return make_rows


@pytest.fixture(params=["dense", "sparse"])
def data(request):
    """X and Y, with X in one form and then the other."""
    X, Y = make_rows()
    return (X if request.param == "dense" else sparse.csr_array(np.where(X > 0, X, 0))), Y


@pytest.fixture
def model():
    """Makes a mixture that takes exactly ``rounds``."""
    return make_model


@pytest.fixture
def same_predictions():
    """Asserts that two models say the same of rows."""

    def check(first, second, X):
        np.testing.assert_allclose(first.predict_proba(X), second.predict_proba(X), rtol=1e-12)

    return check


@pytest.fixture
def stop_after(monkeypatch):
    """Makes EM raise something in the round after so many; returns a way to undo it."""
    original = EM.round

    def stop(rounds, error):
        count = 0

        def counted(em):
            nonlocal count
            count += 1
            if count == rounds + 1:
                em._maximise()  # half a round: the learners have moved on
                raise error
            return original(em)

        monkeypatch.setattr(EM, "round", counted)
        return lambda: monkeypatch.setattr(EM, "round", original)

    return stop


# For input of all kinds

FORMS = {"dense": np.asarray, "sparse": sparse.csr_array}
KINDS = {
    "logistic": {},
    "elastic": {"learner": "elastic"},
    "boosting": {"learner": "boosting"},
    "scikit-learn": {"learner": DecisionTreeClassifier(max_depth=2, random_state=0)},
    "shared": {"sharing": "labels"},
    "tree": {"gate": "tree"},
}


@pytest.fixture(params=FORMS)
def form(request):
    """Turns a dense X into one form and then the other."""
    return FORMS[request.param]


@pytest.fixture(params=KINDS)
def kind(request):
    """Parameters that choose what learns, all kinds of it in turn."""
    return KINDS[request.param]


@pytest.fixture
def small_rows():
    """Makes X (60, 4) and Y (60, 3)."""

    def make():
        random = np.random.default_rng(0)
        X = random.normal(size=(60, 4))
        Y = X @ random.normal(size=(4, 3)) + 0.5 * random.normal(size=(60, 3)) > 0
        return X, Y.astype(int)

    return make


@pytest.fixture
def quick():
    """Makes a mixture of four components that takes three rounds at most."""

    def make(**options):
        return sw.CBM(**{"n_components": 4, "max_iter": 3, "n_starts": 2} | options)

    return make


@pytest.fixture
def assert_sound():
    """Asserts that all that was learnt, and all that it says of rows, are numbers."""
    return check_sound


def numbers(thing, path="model", seen=None):
    """All numbers that an object holds, with the way to them."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray) and thing.dtype.kind == "f":
        yield path, thing
    elif isinstance(thing, float):
        yield path, np.array(thing)
    elif sparse.issparse(thing):
        yield path, thing.data
    elif isinstance(thing, dict):
        for name, part in thing.items():
            yield from numbers(part, f"{path}[{name!r}]", seen)
    elif isinstance(thing, list | tuple):
        for place, part in enumerate(thing):
            yield from numbers(part, f"{path}[{place}]", seen)
    elif hasattr(thing, "__dict__"):
        for name, part in vars(thing).items():
            yield from numbers(part, f"{path}.{name}", seen)


def check_sound(fitted, X):
    """Everything that was learnt, and everything that it says, is a number."""
    found = list(numbers(fitted))
    assert len(found) > 5
    assert [path for path, values in found if not np.isfinite(values).all()] == []
    p = fitted.predict_proba(X)
    assert ((p >= 0) & (p <= 1)).all()  # NaN is neither
    predicted = fitted.predict(X)
    assert np.isfinite(fitted.predict_dist(X).log_prob(predicted)).all()
    assert set(np.unique(predicted)) <= {0, 1}
