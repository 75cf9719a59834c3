"""Deep value networks.

    v(x, y) = how right the relaxed set y is for x, as F1;      labels = argmax over y of v(x, y)

The network learns to judge: the truth, the sets that it now thinks best, and adversaries, sets that
it judges most wrongly. Labels are found by ascent on what it thinks (Gygli, Norouzi and Angelova
2017).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from setwise.models.about import About
from setwise.models.neural.base import WHY_NOT_JOINT, NeuralSetClassifier
from setwise.storage import storable

if TYPE_CHECKING:
    from torch import nn


@storable
class DeepValueNetwork(NeuralSetClassifier):
    """Deep value network.

    Parameters
    ----------
    hidden : int
        Units of the hidden layer.
    patterns : int
        Patterns of labels, which depend on x.
    steps, step_size : int, float, optional
        Of the ascent to the labels: 20 steps of 0.5.
    learning_rate, weight_decay, batch_size : of the optimiser, AdamW
    max_epochs, patience : int
        At most so many times over the rows, and so many without a gain on rows held out.
    target : str or Decision
        The metric that predictions are made for, from the relaxed labels as if independent.
    allow_empty : bool or "auto"
        Whether the empty set may be predicted; "auto": if training has one.
    device : "auto", "cpu" or "cuda"
        "auto" takes a GPU if there is one.
    random_state : int
        Seeds the weights, the order of rows, and which rows are held out.
    n_jobs : int, optional
        Threads; all cores by default.
    verbose : int
        0 is silent.

    Attributes
    ----------
    weights_ : dict of arrays
    history_ : list with the loss and held-out F1 of each epoch
    label_names_ : tuple of the labels' names

    Notes
    -----
    Needs the extra ``setwise[neural]``. The relaxed labels are no probabilities, and there is none
    of a set: ``predict_dist`` treats them as independent. Rows of weight zero are left out.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 20)
    >>> y = [{"a"}, {"a"}, {"a", "b"}, {"a", "b"}] * 20
    >>> model = DeepValueNetwork(hidden=8, learning_rate=0.05, batch_size=8, max_epochs=20)
    >>> model.fit(X, y).predict_sets(np.array([[-0.9], [0.9]]))
    [('a',), ('a', 'b')]
    """

    about: ClassVar[About] = About(
        paper="Gygli 2017",
        joint=False,
        learners="a perceptron that judges sets",
        cost="n (d + L) hidden an epoch",
        why_not=WHY_NOT_JOINT,
    )

    own_steps: ClassVar[int] = 20
    own_step_size: ClassVar[float] = 0.5

    def _network(self, n_features: int, n_labels: int, largest: int) -> nn.Module:
        from setwise.models.neural.value_network import ValueNetwork

        return ValueNetwork(n_features, n_labels, self.hidden, self.patterns, *self._search)
