"""Read Parquet with care: what it would take in memory is known before it is read, and damage is reported in a line."""

import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from forebay._support import input_limits
from forebay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_MAGIC = b"PAR1"
_STDERR = 2
_ONE_AT_A_TIME = Lock()
_DEPTH = 30  # of structures in the footer; Parquet's own need 8
_BYTE_ARRAY = 6  # among physical types; those from here on are text, and take a view of 16 bytes a value

# Of Thrift's compact protocol, which the footer is written in.
_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12


def read_parquet(data: bytes, where: str, size: int | None = None) -> "pl.DataFrame":
    """The table in the bytes of a Parquet file; `where` is what messages call it.

    `size` is that of the file on disk, where these bytes come out of another one.
    """
    import polars as pl

    most = input_limits.unpacked(len(data) if size is None else size)
    try:
        needed = _memory(data)
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        needed = None
    if needed is not None and needed > most:
        raise input_limits.too_much(where, most)
    if needed is not None:
        try:
            with _panics_unheard():
                return pl.read_parquet(io.BytesIO(data))
        # A damaged file may also hit an assertion of polars, and such a panic is no PolarsError.
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            pass
    raise InputError(f"{where}: not Parquet that can be read; is the file whole?")


@contextmanager
def _panics_unheard() -> Iterator[None]:
    """Keep from the terminal what polars prints of a panic that becomes an exception; all else is printed after all.

    It does not go through `sys.stderr`, so the file descriptor itself leads elsewhere meanwhile.
    """
    with _ONE_AT_A_TIME:
        try:
            kept = os.dup(_STDERR)
        except OSError:  # it is closed
            yield
            return
        with tempfile.TemporaryFile() as aside:
            os.dup2(aside.fileno(), _STDERR)
            try:
                yield
            except BaseException:
                aside.truncate(0)
                raise
            finally:
                os.dup2(kept, _STDERR)
                os.close(kept)
                aside.seek(0)
                while said := aside.read(1 << 16):
                    os.write(_STDERR, said)


def _memory(data: bytes) -> int:
    """Bytes that the table will take, by the file's own account; the errors of a damaged one are Python's own."""
    if len(data) < 12 or not data.startswith(_MAGIC) or not data.endswith(_MAGIC):
        raise ValueError
    length = int.from_bytes(data[-8:-4], "little")
    if length > len(data) - 12:
        raise ValueError
    footer = _Footer(data[-8 - length : -8]).struct()
    total = 0
    for group in footer[4]:
        for column in group[1]:
            about = column[3]
            values = max(about[5], group[3])
            total += max(about[6], values * (16 if about[1] >= _BYTE_ARRAY else 8))
    return total


class _Footer:
    """Values out of Thrift's compact protocol: structures as dictionaries by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The structure that begins here."""
        if depth > _DEPTH:
            raise ValueError
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != _STOP:
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            found[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind < _DOUBLE:
            return self._signed()
        if kind in (_DOUBLE, _BINARY):
            return self._skip(8 if kind == _DOUBLE else self._unsigned())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == _MAP and (count := self._unsigned()):
            kinds = self._byte()
            return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in range(count)]
        if kind == _MAP:
            return []
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _skip(self, count: int) -> None:
        self._at += count
        if self._at > len(self._data):
            raise IndexError

    def _unsigned(self) -> int:
        found = shift = 0
        while (byte := self._byte()) > 127:
            found |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError
        return found | byte << shift

    def _signed(self) -> int:
        zigzag = self._unsigned()
        return zigzag >> 1 ^ -(zigzag & 1)
