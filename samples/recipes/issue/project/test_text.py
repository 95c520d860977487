import unittest

from text import truncate


class Truncate(unittest.TestCase):
    def test_short_texts_stay(self):
        self.assertEqual(truncate("a text", 10), "a text")


if __name__ == "__main__":
    unittest.main()
