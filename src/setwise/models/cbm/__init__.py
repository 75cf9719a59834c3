"""Conditional Bernoulli mixtures (Li, Wang, Pavlu, Aslam 2016; Li 2019, chapter 3).

======================  ==========================================================================
`model.py`              `CBM`, the estimator
`em.py`                 E-step and M-step, the bound
`component.py`          one component: classifiers of its active labels, constants for the others
`linear.py`             logistic labels and gate
`features.py`           scaling, and a basis in which EM is fast
`mixture.py`            the fitted mixture
======================  ==========================================================================
"""

from setwise.models.cbm.model import CBM

__all__ = ["CBM"]
