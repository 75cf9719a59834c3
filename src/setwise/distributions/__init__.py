"""p(y|x) as objects that know their own structure."""

from setwise.distributions.base import Distribution
from setwise.distributions.mixture import BernoulliMixture
from setwise.distributions.product import Product
from setwise.distributions.sampled import Sampled
from setwise.distributions.search import ModeResult, SearchResult
from setwise.distributions.shortlist import Shortlist
from setwise.distributions.support import Support

__all__ = [
    "BernoulliMixture",
    "Distribution",
    "ModeResult",
    "Product",
    "Sampled",
    "SearchResult",
    "Shortlist",
    "Support",
]
