"""A run: inputs to tables, policies made ready, the engine driven to the end or step by step."""
