import unittest

from items import item
from orders import order
from users import user


class Clients(unittest.TestCase):
    def test_paths(self):
        self.assertEqual([user(1), order(2), item(3)], ["/users/1", "/orders/2", "/items/3"])


if __name__ == "__main__":
    unittest.main()
