"""An array of which some items are known before a run: the numbers of a policy, of which a kernel asks which they are.

To Numba it is an array like any other. Kernels that are handed it are compiled for it: see `narrow`.
"""

import hashlib
from typing import Any

from numba import types
from numba.extending import models, register_model

from forebay._numba.facts import Facts


class Known(types.Array):  # type: ignore[misc]
    """The type of such an array. A fact names an item by its place."""

    def __init__(self, array: types.Array, facts: Facts):
        self.facts, self.known = facts, {fact.what: (fact.low, fact.high) for fact in facts}
        digest = hashlib.sha256(str(sorted(facts)).encode()).hexdigest()[:8]
        super().__init__(array.dtype, array.ndim, array.layout, name=f"{array}_{digest}")

    def __repr__(self) -> str:
        """By this the store tells files apart: Numba's is that of any array."""
        return str(self.name)

    @property
    def key(self) -> Any:
        """By this Numba tells types apart."""
        return *super().key, self.facts

    @property
    def mangling_args(self) -> Any:
        """From this it makes symbols."""
        name, args = super().mangling_args
        return name, [*args, self.name[-8:]]


@register_model(Known)
class _KnownModel(models.ArrayModel):  # type: ignore[misc]
    pass
