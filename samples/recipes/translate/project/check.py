"""Each language has the same keys, and each text the same placeholders."""
import json
import re
import sys


def texts(language):
    with open(f"{language}.json", encoding="utf-8") as file:
        return json.load(file)


english, german = texts("en"), texts("de")
faults = [f"de.json lacks {key}" for key in english if key not in german]
faults += [f"de.json has {key} alone" for key in german if key not in english]
faults += [f"{key}: other placeholders" for key in english.keys() & german.keys()
           if sorted(re.findall(r"{\w+}", english[key])) != sorted(re.findall(r"{\w+}", german[key]))]
print("\n".join(faults))
sys.exit(bool(faults))
