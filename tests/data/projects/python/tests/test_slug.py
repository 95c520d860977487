import unittest

from slug import slug


class SlugTest(unittest.TestCase):
    def test_blanks_become_dashes(self):
        self.assertEqual(slug("Two Words"), "two-words")
