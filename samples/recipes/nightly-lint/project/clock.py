"""Times of day."""
import os
import sys


def minutes(text):
    """Of "HH:MM" since midnight."""
    hours, rest = text.split(":")
    return int(hours) * 60 + int(rest)
