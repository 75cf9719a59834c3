"""setwise: predict sets of labels, and say how likely the whole set is right."""

__version__ = "0.1.0"
