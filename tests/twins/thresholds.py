"""Which jobs of a line ask for as much, or for no more, by a look at each of them."""


def ask_for_as_much(asked, least):
    """The places of those that ask for at least so much of each amount."""
    return {at for at, amounts in enumerate(asked) if all(x >= y for x, y in zip(amounts, least, strict=True))}


def ask_for_no_more(asked, free):
    """The places of those that ask for no more than is free of each amount."""
    return {at for at, amounts in enumerate(asked) if all(x <= y for x, y in zip(amounts, free, strict=True))}
