"""Jobs in rounds, whose size may change between them."""
