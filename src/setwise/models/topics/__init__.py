"""Supervised topic models (Rubin, Chambers, Smyth and Steyvers 2012), and the SVMs beside them.

========================  ========================================================================
`model.py`                `FlatLDA`, `PriorLDA`, `DependencyLDA`
`hyperparameters.py`      Table 6 and its rules, presets
`documents.py`            documents as counts of words
`words.py`                training of the labels' distributions over words (eqs 2, 3)
`label_topics.py`         topics of labels (eqs 5, 6)
`inference.py`            labels of test documents (eqs 8 to 12, and 9)
`label_odds.py`           from rankings to probabilities
`inspection.py`           words of labels, labels of topics, labels of words
`tuned_svm.py`            `TunedSVM`
========================  ========================================================================

Kernels stand beside their callers; `_random_kernel.py` has their random numbers.
"""

from setwise.models.topics.model import DependencyLDA, FlatLDA, PriorLDA
from setwise.models.topics.tuned_svm import TunedSVM

__all__ = ["DependencyLDA", "FlatLDA", "PriorLDA", "TunedSVM"]
