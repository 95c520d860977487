"""Makes slugs: the parts of an address that stand for a title."""

import re
import unicodedata


def slugify(title):
    """Lower-case ASCII letters and digits of the title, its words joined by '-'."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain.lower()))
