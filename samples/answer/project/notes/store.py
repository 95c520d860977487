"""Notes in a folder, one file a name."""

import os


class Store:
    def __init__(self, folder):
        self.folder = folder

    def put(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def get(self, name):
        path = os.path.join(self.folder, name)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def last(self, count):
        """The names of the `count` newest notes, the newest first."""
        names = os.listdir(self.folder)
        names.sort(key=lambda name: os.path.getmtime(os.path.join(self.folder, name)))
        return names[:count]
