import unittest

from tally.levels import count, level_of


class Levels(unittest.TestCase):
    def test_the_first_level_of_a_line_counts(self):
        self.assertEqual(level_of("12:00 ERROR after INFO"), "ERROR")
        self.assertEqual(level_of("12:00 WARN disk"), "WARNING")
        self.assertIsNone(level_of("12:00 INFORMATION"))

    def test_all_levels_are_named(self):
        self.assertEqual(
            count(["INFO a", "INFO b", "nothing"]),
            {"DEBUG": 0, "INFO": 2, "WARNING": 0, "ERROR": 0},
        )
