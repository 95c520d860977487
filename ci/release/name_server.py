"""A name server for the checks of a release: one name, one IPv4 address."""

import socket
import struct
import threading

ADDRESS = "127.0.0.77"  # a loopback address that nobody else serves


class NameServer:
    """Answers on port 53, the only one that /etc/resolv.conf can mean: needs root. `asked` has the names, in the
    order of their questions."""

    def __init__(self, name, address="127.0.0.1"):
        self.name, self.address, self.asked = name, address, []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((ADDRESS, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            message, client = self.socket.recvfrom(4096)
            self.socket.sendto(self.answer(message), client)

    def answer(self, message):
        """RFC 1035, 4.1: the question comes back, with the address where it was an A of the name."""
        at, labels = 12, []
        while message[at]:
            labels.append(message[at + 1:at + 1 + message[at]].decode())
            at += 1 + message[at]
        name, kind = ".".join(labels).lower(), struct.unpack(">H", message[at + 1:at + 3])[0]
        self.asked.append(name)
        known = name == self.name
        record = struct.pack(">HHHIH", 0xC00C, 1, 1, 60, 4) + socket.inet_aton(self.address)
        answers = record if known and kind == 1 else b""
        # A response, recursion desired and available; 3: no such name.
        flags = 0x8180 | (0 if known else 3)
        return (message[:2] + struct.pack(">HHHHH", flags, 1, 1 if answers else 0, 0, 0) +
                message[12:at + 5] + answers)
