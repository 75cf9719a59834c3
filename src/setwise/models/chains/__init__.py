"""Classifier chains and their relatives: labels that depend on labels."""

from setwise.models.chains.classifier_chain import ClassifierChain
from setwise.models.chains.conditional_tree import ConditionalTree
from setwise.models.chains.ensemble import ChainEnsemble
from setwise.models.chains.mixture_of_experts import MixtureOfExperts

__all__ = ["ChainEnsemble", "ClassifierChain", "ConditionalTree", "MixtureOfExperts"]
