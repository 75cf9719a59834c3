"""Supervised topic models (Rubin, Chambers, Smyth and Steyvers 2012), and the SVMs beside them.

========================  ========================================================================
`flat_lda.py`             `FlatLDA`
`prior_lda.py`            `PriorLDA`
`dependency_lda.py`       `DependencyLDA`
`base.py`                 what the three share
`arguments.py`            what their arguments mean
`hyperparameters.py`      Table 6 and its rules, presets
`documents.py`            documents as counts of words
`words.py`                training of the labels' distributions over words (eqs 2, 3)
`label_topics.py`         topics of labels (eqs 5, 6)
`inference.py`            labels of test documents (eqs 8 to 12, and 9)
`tables.py`               what was learnt, laid out for its kernels
`label_odds.py`           from rankings to probabilities
`inspection.py`           words of labels, labels of topics, labels of words
`attribution.py`          which words of a document speak for which label, to look at
`tuned_svm.py`            `TunedSVM`
========================  ========================================================================

Kernels stand beside their callers; `_random_kernel.py` has their random numbers.
"""

from setwise.models.topics.dependency_lda import DependencyLDA
from setwise.models.topics.flat_lda import FlatLDA
from setwise.models.topics.prior_lda import PriorLDA
from setwise.models.topics.tuned_svm import TunedSVM

__all__ = ["DependencyLDA", "FlatLDA", "PriorLDA", "TunedSVM"]
