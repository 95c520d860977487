#!/usr/bin/env bash
# Makes the repository of the two instances in repos/, beside this script. Its commits have the same ids
# everywhere: names and dates are fixed. The last commit has the solution, as a real repository would.
set -euo pipefail
cd "$(dirname "$0")"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 TZ=UTC
export GIT_AUTHOR_NAME=Maker GIT_AUTHOR_EMAIL=maker@example.com GIT_AUTHOR_DATE=2026-01-02T03:04:05Z
export GIT_COMMITTER_NAME=Maker GIT_COMMITTER_EMAIL=maker@example.com GIT_COMMITTER_DATE=2026-01-02T03:04:05Z

rm -rf repos/made/shelf
git init -q -b main repos/made/shelf
cd repos/made/shelf
mkdir shelf tests
touch shelf/__init__.py tests/__init__.py
cat > shelf/prices.py <<'PYTHON'
"""Prices of a shelf, in cents."""


def total(prices):
    return sum(prices[:-1])


def label(cents):
    return f"{cents / 100} EUR"
PYTHON
cat > tests/test_prices.py <<'PYTHON'
import unittest

from shelf.prices import label, total


class PricesTest(unittest.TestCase):
    def test_no_prices(self):
        self.assertEqual(total([]), 0)

    def test_label(self):
        self.assertEqual(label(125), "1.25 EUR")
PYTHON
git add -A
git commit -q -m "Begin"

sed -i 's/prices\[:-1\]/prices/; s|{cents / 100}|{cents / 100:.2f}|' shelf/prices.py
cat >> tests/test_prices.py <<'PYTHON'

    def test_all_prices(self):
        self.assertEqual(total([100, 25]), 125)

    def test_two_digits(self):
        self.assertEqual(label(120), "1.20 EUR")
PYTHON
git commit -q -a -m "Count all prices, and write two digits"
