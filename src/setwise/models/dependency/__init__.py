"""Dependency networks: labels that all depend on each other."""

from setwise.models.dependency.model import DependencyNetwork

__all__ = ["DependencyNetwork"]
