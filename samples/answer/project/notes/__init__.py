"""Keeps short notes as files in a folder."""
