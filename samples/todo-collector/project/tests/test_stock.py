import unittest

from inventory.stock import Stock


class StockTest(unittest.TestCase):
    def test_takes_what_is_there_and_no_more(self):
        stock = Stock()
        stock.add("screw", 3)
        self.assertTrue(stock.take("screw", 2))
        self.assertFalse(stock.take("screw", 2))
        self.assertEqual(stock.items(), ["screw"])


if __name__ == "__main__":
    unittest.main()
