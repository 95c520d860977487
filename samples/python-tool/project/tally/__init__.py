"""Counts the lines of log files by their level."""
