import unittest

from clock import minutes


class Minutes(unittest.TestCase):
    def test_noon(self):
        self.assertEqual(minutes("12:05"), 725)


if __name__ == "__main__":
    unittest.main()
