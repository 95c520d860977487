"""Texts for a list."""


def truncate(text, length):
    return text[:length]
