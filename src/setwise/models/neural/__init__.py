"""Neural models of the comparisons, behind the extra ``setwise[neural]``.

| file | what |
|---|---|
| spen.py, spen_network.py | structured prediction energy networks |
| deep_value_network.py, value_network.py | networks that judge a set, climbed to the best one |
| predict_and_constrain.py, constrained_network.py | ascent among sets of a predicted size |
| base.py | what their estimators share |
| rows.py, training.py, layers.py | rows as tensors, minibatches with early stopping, layers |

PyTorch is imported when a model is fitted or predicts, by the files that end in ``network``, and by
rows, training and layers; without it all else works.
"""

from setwise.models.neural.deep_value_network import DeepValueNetwork
from setwise.models.neural.predict_and_constrain import PredictAndConstrain
from setwise.models.neural.spen import SPEN

__all__ = ["SPEN", "DeepValueNetwork", "PredictAndConstrain"]
