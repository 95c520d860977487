"""What is in stock."""


class Stock:
    def __init__(self):
        self.counts = {}

    def add(self, item, count=1):
        # TODO: refuse names that are blank
        self.counts[item] = self.counts.get(item, 0) + count

    def take(self, item, count=1):
        """Takes some out; whether there were enough."""
        # FIXME: an item that is used up has to be forgotten
        if self.counts.get(item, 0) < count:
            return False
        self.counts[item] -= count
        return True

    def items(self):
        return sorted(self.counts)
