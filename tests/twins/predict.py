"""Slow twins of predicting by what likes took last: a list a key, every mean made anew."""

MINUTE, HOUR = 60.0, 3600.0
STEPS = [*(k * MINUTE for k in (1, 5, 15, 30)), *(k * HOUR for k in (1, 2, 5, 10, 20, 50, 100))]


class Past(dict):
    """Run times by key, the latest last."""

    def place(self, key):
        """The list of a key, new or known."""
        return self.setdefault(key, [])

    def note(self, key, seconds):
        """Another one ended."""
        self.place(key).append(seconds)

    def guess(self, key, window, asked, weight):
        """The mean over the last ones and `weight` times what was asked for."""
        return mean(asked, weight, self.place(key)[-window:])


def mean(asked, weight, noted):
    """Over what was noted and `weight` times what was asked for."""
    if not noted:
        return asked
    return (sum(noted) + (weight * asked if weight else 0.0)) / (len(noted) + weight)


def corrected(guess, elapsed):
    """The first of the steps from the guess that reaches beyond what has elapsed."""
    return next((guess + step for step in STEPS if guess + step > elapsed), elapsed + STEPS[-1])
