"""The tree of a site's accounts, with the shares of accounts and users."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from forebay._support.text import counted
from forebay.errors import brief, nearest
from forebay.platforms._fields import Model
from forebay.platforms.rules import Name

ROOT = "root"
"""The account that all others are in."""

PARENT: Literal["parent"] = "parent"


def _shares(value: Any) -> Any:
    word = value.strip().lower() if isinstance(value, str) else value
    if word == PARENT:
        return PARENT
    if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word < 2**31:
        raise ValueError(f'{brief(value)} is no number of shares; write one such as 10, or "parent"')
    return word


Shares = Annotated[int | Literal["parent"], BeforeValidator(_shares), Field(examples=[10])]


class Account(Model):
    """An account, and its users.

    Parameters
    ----------
    name
        What jobs call it.
    parent
        The account above it: "root" if none is named.
    shares
        Its shares among accounts and users of the same parent; "parent": it has none of its own, and its accounts and
        users count as members of the account above it.
    users
        Shares of its users; "ann:long" is for a user's jobs in one partition.

    Examples
    --------
    >>> print(fb.platforms.Account(name="theory", parent="physics", shares=2, users={"ann": 1}))
    theory in physics: 2 shares, 1 user
    """

    name: Name
    parent: Name = ROOT
    shares: Shares = 1
    users: dict[str, Shares] = Field(default_factory=dict)

    @field_validator("users")
    @classmethod
    def _have_names(cls, users: dict[str, int | str]) -> dict[str, int | str]:
        for name in users:
            user, colon, partition = name.partition(":")
            if not user or (colon and not partition):
                raise ValueError(
                    f'{brief(name)} is no user; write a name such as "ann", or "ann:long" with a partition'
                )
        return users

    def described(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"name": self.name, "parent": self.parent, "shares": self.shares, "users": dict(self.users)}

    def __str__(self) -> str:
        own = "shares of its parent" if self.shares == PARENT else counted(self.shares, "share")
        return f"{self.name} in {self.parent}: {own}, {counted(len(self.users), 'user')}"


def _make_a_tree(accounts: tuple[Account, ...]) -> tuple[Account, ...]:
    """Refuse accounts that make none."""
    above: dict[str, str] = {}
    for one in accounts:
        if one.name in above:
            raise ValueError(f"two accounts are called {one.name!r}; give one another name")
        above[one.name] = one.parent
    for name, parent in above.items():
        if parent != ROOT and parent not in above:
            raise ValueError(f"account {name!r} is in {parent!r}, which is not there; {nearest(parent, above)}")
    above[ROOT] = ""
    for name in above:
        steps, at = 0, name
        while at:
            at, steps = above[at], steps + 1
            if steps > len(above):
                raise ValueError(f"account {name!r} is inside itself; say in which other one it is")
    return accounts


Accounts = Annotated[tuple[Account, ...], AfterValidator(_make_a_tree)]
