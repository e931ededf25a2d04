"""Jobs share nodes."""

from forebay.engine.capability import Capability, within

DESCRIPTIONS = (
    Capability(
        name="shared-nodes",
        state=within("inside", "room", "full", "first", "atoms", "counted", "asks", "head", "shares"),
        truth=("asks",),
        machine="placement",
        read_only=(*within("inside", "full", "first", "atoms", "counted"), "truth.asks"),
    ),
)
