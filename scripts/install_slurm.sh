#!/bin/sh
# Install Slurm from the packages of Debian or Ubuntu, for tests/real_slurm; with "accounting" slurmdbd and MariaDB too,
# for its fair shares, with "fast" libfaketime, for clocks that run faster. Nothing is started: the tests start and end
# daemons of their own, in a folder of their own.
set -eu
packages="slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge" needed="slurmctld munged"
if [ "${1:-}" = accounting ]; then
    packages="$packages slurmdbd slurm-wlm-mysql-plugin mariadb-server" needed="$needed slurmdbd mariadbd"
fi
if [ "${1:-}" = fast ]; then
    packages="$packages libfaketime faketime" needed="$needed faketime"
fi
missing=""
for program in $needed; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
if [ -z "$missing" ]; then
    slurmctld -V
    exit 0
fi
as_root=""
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update
# shellcheck disable=SC2086
$as_root apt-get install -y --no-install-recommends $packages
slurmctld -V
