import unittest

from slug import slugify


class Slugs(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slugify("Hello, World!"), "hello-world")

    def test_accents_are_folded(self):
        self.assertEqual(slugify("Crème brûlée"), "creme-brulee")

    def test_nothing_is_left_of_signs(self):
        self.assertEqual(slugify("?!"), "")
