"""The sum of a cart."""


def total(prices, discount=0):
    """In cents; the discount in percent."""
    return int(sum(prices) * (1 - discount / 100))
