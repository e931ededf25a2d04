"""The page over HTTP, on this machine alone: GET and HEAD of one file, and nothing else."""

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from forebay._live.watch.page import POLICY
from forebay._support.reading import read_bytes
from forebay.errors import InputError, brief

_ADDRESS = re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):(\d{1,5})")
_PATHS = ("/", "/status.html")
_AT_ONCE = 16
_PATIENCE = 10.0
"""Seconds that a reader may take."""


def address(given: str) -> tuple[str, int]:
    """127.0.0.1:8080 as host and port; only this machine's own."""
    found = _ADDRESS.fullmatch(given.strip())
    if not found or int(found[2]) > 65535:
        raise InputError(
            f"--serve {brief(given)} is not an address of this machine alone; give 127.0.0.1:PORT, and put a web "
            "server with a login in front of it where others are to see the page"
        )
    return found[1].strip("[]"), int(found[2])


class Server(ThreadingHTTPServer):
    """Serves a file until it is closed."""

    daemon_threads = True
    request_queue_size = _AT_ONCE

    def __init__(self, file: Path, host: str, port: int) -> None:
        self.file = file
        self._turns = threading.Semaphore(_AT_ONCE)
        if ":" in host:
            import socket

            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            raise InputError(f"--serve {host}:{port}: {error.strerror or error}; give another port") from None

    @property
    def port(self) -> int:
        """Which it is, where 0 was asked for."""
        return int(self.server_address[1])

    def begin(self) -> None:
        """Serve beside all else."""
        threading.Thread(target=self.serve_forever, name="page", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, as long as there are few."""
        if not self._turns.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Then it is another's turn."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._turns.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Readers that go away are no news."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _PATIENCE
    server_version, sys_version = "forebay", ""
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, body: bool) -> None:
        if not self._is_meant():
            self._refuse(421, "this page is for this machine alone")
        elif self.path not in _PATHS:
            self._refuse(404, "there is one page: /")
        else:
            try:
                page = read_bytes(self.server.file)
            except OSError:
                self._refuse(503, "nothing is read yet")
                return
            self._send(200, "text/html; charset=utf-8", page, body)

    def _is_meant(self) -> bool:
        """Whether the reader asked for this machine: a name that leads here from elsewhere is a trick (rebinding)."""
        hosts = self.headers.get_all("Host") or []
        names = {f"{name}:{self.server.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        return len(hosts) == 1 and hosts[0].strip().lower() in names

    def _refuse(self, code: int, why: str) -> None:
        self._send(code, "text/plain; charset=utf-8", f"{why}\n".encode(), self.command != "HEAD")

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Of requests that are none, or of another kind: without a word of what they said."""
        self.close_connection = True
        self._send(405 if code == 501 else code, "text/plain; charset=utf-8", b"only GET and HEAD of /\n", True)

    def _send(self, code: int, kind: str, content: bytes, body: bool) -> None:
        self.send_response(code)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(content))),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        if code == 405:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is asked for is written by others."""
