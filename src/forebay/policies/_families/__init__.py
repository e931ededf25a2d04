"""The parameters of policies that share a kernel; a preset beside this folder is a few of their values."""
