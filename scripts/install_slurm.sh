#!/bin/sh
# Install Slurm from the packages of Debian or Ubuntu, for tests/real_slurm. Nothing is started: the tests start and end
# daemons of their own, in a folder of their own.
set -eu
if command -v slurmctld >/dev/null && command -v munged >/dev/null; then
    slurmctld -V
    exit 0
fi
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update
$as_root apt-get install -y --no-install-recommends slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge
slurmctld -V
