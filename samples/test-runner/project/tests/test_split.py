import unittest

from money.split import split


class SplitTest(unittest.TestCase):
    def test_even(self):
        self.assertEqual(split(90, 3), [30, 30, 30])

    def test_larger_parts_come_first(self):
        self.assertEqual(split(100, 3), [34, 33, 33])

    def test_nothing_is_lost(self):
        for parts in range(1, 20):
            self.assertEqual(sum(split(1001, parts)), 1001)

    def test_no_parts(self):
        with self.assertRaises(ValueError):
            split(10, 0)


if __name__ == "__main__":
    unittest.main()
