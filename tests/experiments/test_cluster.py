"""A real Dask cluster on this machine: the same rows as without it, also where a worker is killed."""

import asyncio
import os
import shutil
import signal
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from forebay.errors import InputError
from forebay.experiments import sweep, tidy
from forebay.experiments.execution import cluster
from forebay.experiments.execution.executor import Failure, in_processes
from forebay.experiments.grid import runs_of
from forebay.experiments.store import Store

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of distributed

POLICY = """
import os, signal
from beside import MOST

class Mine:
    def decide(self, view, act):
        for job in view.queue[:MOST]:
            if act.fits(job):
                act.start(job)

class Dies:
    def decide(self, view, act):
        os.kill(os.getpid(), signal.SIGKILL)
"""
GENERATOR = """
import forebay as fb
def make(seed):
    return fb.workload.models.generate("lublin99:jobs=30,nodes=16", seed)
"""


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        silence_logs=50,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as made:
        yield made


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """With a policy, a module that it imports, jobs and a machine in files of one's own."""
    (tmp_path / "mine.py").write_text(POLICY)
    (tmp_path / "beside.py").write_text("MOST = 2\n")
    (tmp_path / "mygen.py").write_text(GENERATOR)
    (tmp_path / "machine.toml").write_text("nodes = 16\n")
    monkeypatch.chdir(tmp_path)
    keys = {"generators": ["mygen.py:make"], "platforms": ["machine.toml"], "seeds": 5}
    return runs_of(keys | {"policies": ["fcfs", "mine.py:Mine"]})


def test_rows_are_the_same_on_a_cluster_whose_worker_is_killed(local, runs, tmp_path):
    sweep.warm_up(["fcfs"])
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    sweep.carry_out(runs, here, in_processes(1))
    pids = []

    def kill_one(run, ended, total, failed):
        if ended == 2:
            pids.append(next(iter(local.workers.values())).pid)
            os.kill(pids[0], signal.SIGKILL)

    with cluster.executing(runs, None, local.scheduler_address) as executor:
        sweep.carry_out(runs, there, executor, kill_one)
    assert pids
    assert tidy.frame(sweep.records(runs, there)).equals(tidy.frame(sweep.records(runs, here)))
    for run in runs:
        mine, other = there.load(run).document, here.load(run).document
        assert {**mine, "seconds": 0} == {**other, "seconds": 0}


def test_a_run_that_kills_its_process_fails_by_name(local, runs):
    (bad,) = runs_of({"workloads": ["table1"], "policies": ["mine.py:Dies"]})
    outcomes = {}
    with cluster.executing([bad, runs[0]], None, local.scheduler_address) as executor:
        executor([bad, runs[0]], lambda run, outcome: outcomes.__setitem__(run.policy, outcome))
    assert outcomes["mine.py:Dies"].text.startswith("its process died 3 times (SIGKILL")
    assert not isinstance(outcomes["fcfs"], Failure)


def test_a_worker_without_what_a_policy_imports_is_named(local, runs, tmp_path, monkeypatch):
    """A module that lies beside the policy goes with it; one that is installed here alone does not."""
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "only_here.py").write_text("MOST = 2\n")
    (tmp_path / "needy.py").write_text(POLICY.replace("from beside", "from only_here"))
    monkeypatch.syspath_prepend(tmp_path / "installed")
    (needy,) = runs_of({"workloads": ["table1"], "policies": ["needy.py:Mine"]})
    outcomes = {}
    with cluster.executing([needy, runs[0]], None, local.scheduler_address) as executor:
        executor([needy, runs[0]], lambda run, outcome: outcomes.__setitem__(run.policy, outcome))
    text = outcomes["needy.py:Mine"].text
    assert "needy.py" in text
    assert "only_here" in text
    assert "Traceback" not in text
    assert not isinstance(outcomes["fcfs"], Failure)


def test_workers_with_other_code_are_refused(local, runs, monkeypatch):
    monkeypatch.setattr(cluster, "code_hash", lambda: "other")
    with (
        pytest.raises(InputError, match="results may differ"),
        cluster.executing(runs, None, local.scheduler_address),
    ):
        pass


def test_an_address_where_nobody_answers(runs, monkeypatch):
    monkeypatch.setattr(cluster, "TIMEOUT", 0.5)
    with (
        pytest.raises(InputError, match=r"127\.0\.0\.1:9: no Dask scheduler answers"),
        cluster.executing(runs, None, "tcp://127.0.0.1:9"),
    ):
        pass


def test_a_parcel_has_all_files_and_lies_as_they_do(runs, tmp_path):
    parcel = cluster.parcel_of(runs)
    names = {os.path.relpath(path, tmp_path) for path in parcel.content}
    assert names == {"mine.py", "beside.py", "mygen.py", "machine.toml"}
    cluster.unpack(parcel, tmp_path / "there")
    assert (tmp_path / "there" / str(tmp_path).lstrip("/") / "beside.py").read_text() == "MOST = 2\n"
    shutil.rmtree(tmp_path / "there")


def test_what_slurm_is_asked_for():
    found = cluster.slurm_options("queue=fat, cores=4, walltime=2h, jobs=3")
    assert found == {"queue": "fat", "cores": "4", "memory": "4GB", "walltime": "2h", "jobs": "3", "account": ""}


class Asked:
    """In the place of dask-jobqueue's class: remembers what it is asked for."""

    options: dict = {}  # noqa: RUF012

    def __init__(self, **options):
        type(self).options = options

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def adapt(self, **_):
        pass


@pytest.fixture
def asked(monkeypatch):
    """What dask-jobqueue is asked for; where `cryptography` is not installed, with a made-up key."""
    from distributed.security import Security

    monkeypatch.setitem(sys.modules, "dask_jobqueue", SimpleNamespace(SLURMCluster=Asked))
    if not find_spec("cryptography"):
        pem = {"tls_ca_file": "a\nb", "tls_client_cert": "a\nb", "tls_client_key": "a\nb"}
        monkeypatch.setattr(Security, "temporary", classmethod(lambda cls: cls(require_encryption=True, **pem)))

    def asked(text):
        with cluster._slurm_cluster(text):
            return Asked.options

    return asked


def test_workers_on_other_machines_talk_to_who_has_the_key_alone(asked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    options = asked("cores=2,jobs=3")
    assert options["protocol"] == "tls://"
    assert options["security"].require_encryption
    assert options["security"].get_tls_config_for_role("client")["ca_file"]
    assert options["shared_temp_directory"] == str(tmp_path)
    assert options["scheduler_options"]["dashboard_address"] == "127.0.0.1:0"
    place = options["worker_extra_args"].index("--dashboard-address")
    assert options["worker_extra_args"][place + 1] == "127.0.0.1:0"


def test_what_the_site_says_of_its_network_counts(asked):
    import dask

    with dask.config.set({"jobqueue.slurm.scheduler-options": {"interface": "ib0"}}):
        options = asked("cores=2")
    assert options["scheduler_options"] == {"interface": "ib0", "dashboard_address": "127.0.0.1:0"}


def test_a_scheduler_that_takes_these_options_shows_its_pages_here_alone(asked):
    """A real one, which listens where they say."""
    options = {**asked("cores=1")["scheduler_options"], "protocol": "tcp://", "host": "127.0.0.1", "port": 0}

    async def listen():
        async with distributed.Scheduler(**options) as scheduler:
            pages = [one.getsockname()[0] for one in scheduler.http_server._sockets.values()]
            return scheduler.address, pages

    address, pages = asyncio.run(listen())
    assert address.startswith("tcp://127.0.0.1:")
    assert pages == ["127.0.0.1"]


def test_without_the_package_for_keys_nothing_is_started(asked, monkeypatch):
    from distributed.security import Security

    def missing(cls):
        raise ImportError

    monkeypatch.setattr(Security, "temporary", classmethod(missing))
    with pytest.raises(InputError, match=r"pip install 'forebay\[cluster\]'"):
        asked("cores=1")
