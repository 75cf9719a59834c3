"""What EM has learnt, apart from how it learns: copied after each round, and put back.

The state of a learner is what ``setwise.storage`` would keep of it, its fitted attributes; what
else it holds (views of the training rows, say) follows from these and stays where it is.
"""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

import numpy as np

from setwise.storage import fitted_attributes, is_storable

_Thing = TypeVar("_Thing")


def twin(thing: _Thing) -> _Thing:
    """A copy that stays as it is while ``thing`` goes on learning.

    >>> numbers = [np.zeros(2)]
    >>> before = twin(numbers)
    >>> numbers[0] += 1
    >>> before
    [array([0., 0.])]
    """
    if isinstance(thing, np.ndarray):
        return thing.copy(order="K")
    if type(thing) in (list, tuple):
        return type(thing)(twin(part) for part in thing)  # type: ignore[call-arg, attr-defined]
    if not is_storable(thing):
        return thing
    copied = copy(thing)
    for name, value in fitted_attributes(thing).items():
        setattr(copied, name, twin(value))
    return copied


def restore(thing: Any, state: Any) -> None:
    """Bring a learner to the state of another of its kind; parts that it has stay its own.

    What is put back is a copy, so that one state can be gone back to again and again. A learner
    that knows more than it stores is told by ``after_restore()``.
    """
    for name, value in fitted_attributes(state).items():
        own = getattr(thing, name, None)
        if is_storable(value) and type(own) is type(value):
            restore(own, value)
        else:
            setattr(thing, name, twin(value))
    if hasattr(thing, "after_restore"):
        thing.after_restore()
