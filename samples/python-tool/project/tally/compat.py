"""Kept for callers of version 0: use tally.levels."""

from tally.levels import count as count_levels  # noqa: F401
