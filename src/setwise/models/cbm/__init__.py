"""Conditional Bernoulli mixtures (Li, Wang, Pavlu, Aslam 2016; Li 2019, chapter 3).

The model and EM:

======================  ==========================================================================
`model.py`              `CBM`, the estimator
`fit.py`                one mixture from its start to its last round
`em.py`                 E-step and M-step, the bound
`component.py`          one component: classifiers of its active labels, constants for the others
`together.py`           small components improved together, as one bank
`rows.py`               training rows, and pieces of them
`features.py`           scaling, and a basis in which EM is fast
`mixture.py`            the fitted mixture
`distribution.py`       its p(y|x), a batch of rows at a time
======================  ==========================================================================

What learns the labels and the gate:

======================  ==========================================================================
`learners.py`           what learns the labels and the gate, by name
`linear.py`             logistic regressions
`elastic.py`            elastic nets
`boosted.py`            boosted trees
`adapted.py`            any scikit-learn classifier
`tree_gate.py`          a gate that is a tree of logistic regressions
`component_tree.py`     that tree: similar components close together
`shared.py`             linear label classifiers that all components share
`shared_loss.py`        their objective
`shared_boosted.py`     boosted trees that all components share
`pairs.py`              their rows: pairs of a row and a component
======================  ==========================================================================

What goes on around a fit:

======================  ==========================================================================
`stopping.py`           when EM ends, and what held-out rows say
`search.py`             the number of rounds that held-out rows like best
`auto.py`               settings chosen on held-out rows
`in_turn.py`            the members of an ensemble, one after the other
`state.py`              what EM has learnt, copied and put back
`checkpoint.py`         the state on disk
`fingerprint.py`        of which data and settings it is
`progress.py`           bars and lines while a fit runs
======================  ==========================================================================

Looking into a fitted model:

======================  ==========================================================================
`inspection.py`         `CBM.explain` and `CBM.components`
`explain.py`            why a row gets its labels
`reasons.py`            why a label is in the likeliest set, or is not
`contributions.py`      what features say, where learners are linear
`components_table.py`   the components as a table
`explanation_text.py`   both in words
`plots.py`              both as figures
======================  ==========================================================================

Kernels stand beside their callers: `_likelihood_kernel.py`, `_shared_kernel.py`, `_tree_kernel.py`.
"""

from setwise.models.cbm.model import CBM

__all__ = ["CBM"]
