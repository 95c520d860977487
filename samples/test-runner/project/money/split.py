"""Splits amounts of cents."""


def split(cents, parts):
    """Parts that differ by at most one cent, the larger ones first."""
    if parts < 1:
        raise ValueError("parts has to be at least 1")
    share, rest = divmod(cents, parts)
    return [share] * (parts - rest) + [share + 1] * rest
