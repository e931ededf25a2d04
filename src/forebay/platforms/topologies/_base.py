"""What every topology has: a kind, and a line for people."""

from forebay.platforms._fields import Model


class BaseTopology(Model):
    """How nodes and servers are joined; the kinds add their sizes and bandwidths."""

    kind: str

    @property
    def text(self) -> str:
        """The network in a few words."""
        return self.kind
