"""The command line: notes put NAME TEXT | get NAME | last N."""

import sys

from notes.store import Store

store = Store("notes-data")
command, *arguments = sys.argv[1:]
if command == "put":
    store.put(*arguments)
elif command == "get":
    print(store.get(*arguments))
else:
    print("\n".join(store.last(int(arguments[0]))))
