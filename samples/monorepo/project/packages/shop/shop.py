"""The shop; it puts packages/pricing on its path."""

from pricing import total


def checkout(prices, is_member):
    return total(prices, discount=10 if is_member else 0)
