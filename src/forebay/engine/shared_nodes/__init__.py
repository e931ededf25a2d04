"""Jobs share nodes: cores, memory and GPUs inside them."""
