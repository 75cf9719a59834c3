"""Measures of predicted label sets, of rankings, and of confidences.

=====================================  ========================================  ==================
measure                                formula                                   source
=====================================  ========================================  ==================
precision                              TP / (TP + FP)                            Li 2019, 2.1
recall                                 TP / (TP + FN)                            Li 2019, 2.1
f1                                     2 TP / (2 TP + FP + FN)                   Li 2019, 2.1
jaccard                                TP / (TP + FP + FN)                       Li 2019, 2.1
hamming_loss                           (FP + FN) / L                             Li 2019, 2.1.1
subset_accuracy                        share of sets that are exactly right      Li 2019, 2.1.1
  = set_accuracy = exact_match                                                   Hong 2015, 5.3
conditional_log_likelihood_loss        sum of -log p(y | x)                      Hong 2015, 5.3
auc_roc                                share of rightly ordered pairs            Rubin 2012, 5.3
auc_pr                                 area under precision over recall          Rubin 2012, 5.3
average_precision                      mean precision at the relevant ranks      Rubin 2012, 5.3
mean_average_precision                 the same, labels ranking documents
one_error                              share of wrong first candidates           Rubin 2012, 5.3
is_error                               share of imperfect rankings               Rubin 2012, 5.3
margin                                 last relevant - first irrelevant rank     Rubin 2012, 5.3
ranking_loss                           1 - auc_roc                               Rubin 2012, 5.3
precision_at_k                         relevant among the first k, over k        Li 2019, 2.1
ndcg_at_k                              discounted gain over the best possible    Li 2019, 2.1
cutoff_f1 (proportional, calibrated,   F1 of the first N of each ranking         Rubin 2012, 5.5
  break-even)
brier_score                            E[(v - c)²]                               Li 2019, 4.3
brier_decomposition                    uncertainty - sharpness + alignment       Li 2019, 4.3
expected_calibration_error             E|accuracy - confidence| over buckets     Li 2019, 4.3
reliability_table                      accuracy by bucket of confidence          Li 2019, 4.3
=====================================  ========================================  ==================

``set_measures`` and ``ranking_measures`` compute all of a family at once. Conventions stand in the
module docstrings: 0/0 and averages in ``sets``, ties in ``ranking``, buckets in ``confidence``.
"""

from setwise.metrics.confidence import (
    BrierDecomposition,
    ReliabilityTable,
    brier_decomposition,
    brier_score,
    expected_calibration_error,
    reliability_table,
)
from setwise.metrics.counts import Counts, overlap
from setwise.metrics.cutoffs import (
    break_even_cutoff,
    calibrated_cutoff,
    cutoff_f1,
    proportional_cutoff,
    top_n,
)
from setwise.metrics.likelihood import conditional_log_likelihood_loss
from setwise.metrics.ranking import (
    auc_pr,
    auc_roc,
    average_precision,
    is_error,
    margin,
    mean_average_precision,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
    ranking_measures,
)
from setwise.metrics.sets import (
    exact_match,
    f1,
    hamming_loss,
    jaccard,
    precision,
    recall,
    set_accuracy,
    set_measures,
    subset_accuracy,
)

__all__ = [
    "BrierDecomposition",
    "Counts",
    "ReliabilityTable",
    "auc_pr",
    "auc_roc",
    "average_precision",
    "break_even_cutoff",
    "brier_decomposition",
    "brier_score",
    "calibrated_cutoff",
    "conditional_log_likelihood_loss",
    "cutoff_f1",
    "exact_match",
    "expected_calibration_error",
    "f1",
    "hamming_loss",
    "is_error",
    "jaccard",
    "margin",
    "mean_average_precision",
    "ndcg_at_k",
    "one_error",
    "overlap",
    "precision",
    "precision_at_k",
    "proportional_cutoff",
    "ranking_loss",
    "ranking_measures",
    "recall",
    "reliability_table",
    "set_accuracy",
    "set_measures",
    "subset_accuracy",
    "top_n",
]
