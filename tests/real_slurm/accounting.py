"""A throw-away Slurm with accounts: MariaDB and slurmdbd beside it, all in its folder, on ports of their own."""

import shutil
import socket
import subprocess

from real_slurm.cluster import Cluster, free_ports, missing

PROGRAMS = ("slurmdbd", "mariadbd", "mariadb-install-db", "mariadb", "sacctmgr", "sprio")


def lacking():
    """The programs that are not installed: see scripts/install_slurm.sh."""
    return missing() + [name for name in PROGRAMS if shutil.which(name) is None]


class Accounted(Cluster):
    """Real Slurm whose users have shares. Jobs of several users need the rights to submit in their names."""

    def __init__(self, folder, nodes=4, extra=(), scheduler="bf_interval=1"):
        super().__init__(folder, nodes, scheduler, extra)
        self._database_port, self._accounts_port = free_ports(2)

    def _accounting(self):
        return [
            "AccountingStorageType=accounting_storage/slurmdbd",
            "AccountingStorageHost=127.0.0.1",
            f"AccountingStoragePort={self._accounts_port}",
            f"AccountingStoragePass={self.folder}/munge.socket",
            "AccountingStorageEnforce=associations,qos",
        ]

    def _answers(self, port):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def _before_controller(self):
        folder, data = self.folder, self.folder / "database"
        subprocess.run(
            ["mariadb-install-db", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"],
            capture_output=True, check=True,
        )  # fmt: skip
        self._background(
            "mariadbd", "mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={folder}/database.socket",
            f"--port={self._database_port}", "--bind-address=127.0.0.1", f"--pid-file={folder}/mariadbd.pid",
            "--user=root", "--innodb-buffer-pool-size=64M", "--skip-log-bin",
        )  # fmt: skip
        self._wait(lambda: self._answers(self._database_port), "its database")
        grant = "CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm'; GRANT ALL ON *.* TO slurm@'127.0.0.1';"
        subprocess.run(
            ["mariadb", "--no-defaults", f"--socket={folder}/database.socket", "-u", "root", "-e", grant], check=True
        )
        lines = (
            "AuthType=auth/munge",
            f"AuthInfo=socket={folder}/munge.socket",
            "DbdHost=localhost",
            "DbdAddr=127.0.0.1",
            f"DbdPort={self._accounts_port}",
            "SlurmUser=root",
            f"LogFile={folder}/slurmdbd.log",
            f"PidFile={folder}/slurmdbd.pid",
            "StorageType=accounting_storage/mysql",
            "StorageHost=127.0.0.1",
            f"StoragePort={self._database_port}",
            "StorageUser=slurm",
            "StoragePass=slurm",
            "StorageLoc=accounts",
        )
        (folder / "slurmdbd.conf").write_text("\n".join(lines) + "\n")
        (folder / "slurmdbd.conf").chmod(0o600)
        self._background("slurmdbd", "slurmdbd", "-D")
        self._wait(lambda: self._answers(self._accounts_port), "slurmdbd")
        self.manage("add", "cluster", "mini")

    def manage(self, *words):
        """Change accounts."""
        answer = self._run("sacctmgr", "-i", *words)
        if answer.returncode:
            raise RuntimeError(f"sacctmgr {' '.join(words)}: {answer.stderr or answer.stdout}")
