import unittest

from pricing import total


class TotalTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([100, 250]), 350)


if __name__ == "__main__":
    unittest.main()
