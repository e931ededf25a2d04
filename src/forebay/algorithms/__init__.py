"""Mathematics on plain arrays: kernels that know nothing of jobs or machines."""
