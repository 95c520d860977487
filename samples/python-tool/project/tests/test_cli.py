import contextlib
import io
import os
import tempfile
import unittest

from tally.cli import main


class CommandLine(unittest.TestCase):
    def run_tally(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "app.log")
            with open(log, "w", encoding="utf-8") as file:
                file.write("INFO start\nERROR disk\nERROR net\n")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = main([*arguments, log])
        return status, output.getvalue()

    def test_text_is_aligned(self):
        status, output = self.run_tally()
        self.assertEqual(status, 0)
        self.assertEqual(output, "DEBUG   0\nINFO    1\nWARNING 0\nERROR   2\n")
