"""Networks between nodes and servers, one kind a file: each defines DESCRIPTION and the model `Topology`."""
