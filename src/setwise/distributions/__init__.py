"""p(y|x) as objects that know their own structure."""

from setwise.distributions.base import Distribution
from setwise.distributions.block_product import BlockProduct
from setwise.distributions.chain import Chain
from setwise.distributions.chain_search import ChainSearch
from setwise.distributions.experts import Experts
from setwise.distributions.label_tree import LabelTree
from setwise.distributions.mixture import BernoulliMixture
from setwise.distributions.product import Product
from setwise.distributions.sampled import Sampled
from setwise.distributions.search import ModeResult, SearchResult
from setwise.distributions.shortlist import Shortlist
from setwise.distributions.step_chain import StepChain
from setwise.distributions.support import Support

__all__ = [
    "BernoulliMixture",
    "BlockProduct",
    "Chain",
    "ChainSearch",
    "Distribution",
    "Experts",
    "LabelTree",
    "ModeResult",
    "Product",
    "Sampled",
    "SearchResult",
    "Shortlist",
    "StepChain",
    "Support",
]
