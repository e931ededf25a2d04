"""How jobs behave on a machine, one file a model: each turns a Workload and a Platform into a Program."""
