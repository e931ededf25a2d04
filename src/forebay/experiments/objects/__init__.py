"""Objects of Python where a sweep has specs: its table shows their names, and only this process has them."""
