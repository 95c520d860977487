"""Writes counts as aligned text."""


def render(counts):
    width = max(len(level) for level in counts)
    return "\n".join(f"{level:<{width}} {number}" for level, number in counts.items())
