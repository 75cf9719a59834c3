"""Conditional random fields of labels."""

from setwise.models.crf.model import PairwiseCRF

__all__ = ["PairwiseCRF"]
