"""Makes another run of a folder, which attacks whoever opens its report.

usage: hostile_report.py RUN TO NAME

TO gets the files of RUN with the texts of its record, of its diff and of its last message replaced.
Digests don't fit: a report does not check them.
"""

import json
import os
import shutil
import sys

FIELDS = {  # a text for each place that a model, a command, a repository or a task can fill
    "script": "</pre></bdi></code></style></title></textarea></script>"
              "<script>window.owned=1;document.title='owned';alert(1);"
              "fetch('http://beacon.test/script')</script>",
    "handlers": "\"><img src=x onerror=\"window.owned=1\">'><svg/onload='window.owned=1'>"
                "<details open ontoggle=window.owned=1>\" autofocus onfocus=\"window.owned=1",
    "links": "<a href=\"javascript:window.owned=1\">x</a>[x](javascript:window.owned=1)"
             "<link rel=stylesheet href=//beacon.test/a><base href=//beacon.test/>"
             "<a href=//beacon.test/ ping=//beacon.test/ping>x</a>",
    "refresh": "</title><meta http-equiv=refresh content=\"0;url=http://beacon.test/\">"
               "<meta http-equiv=Content-Security-Policy content=\"script-src *\">"
               "<form action=//beacon.test/><input name=a></form>",
    "style": "</style><style>@import url(http://beacon.test/a);*{display:none!important}</style>"
             "\" style=\"position:fixed;inset:0;background:url(http://beacon.test/b)\" class=\"turn",
    "frames": "<iframe srcdoc=\"<script>parent.owned=1</script>\"></iframe>"
              "<object data=\"data:text/html,<script>parent.owned=1</script>\"></object>"
              "<embed src=//beacon.test/e><img src=\"data:image/svg+xml,<svg onload='owned=1'/>\">",
    "unclosed": "<!-- <![CDATA[ <plaintext><template><noscript><select><table><math><mtext></p></table>"
                "<mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=owned=1&gt;\">",
    "encodings": "+ADw-script+AD4-owned=1+ADw-/script+AD4- \\u003cscript\\u003e &lt;script&gt; %3Cscript%3E "
                 "\u0000\u0008\u001b]0;owned\u0007\u001b[2J\ufeff\uff1cscript\uff1e",
    "bidi": "\u202egnp.\u202dexe\u2066\u2067\u2068\u2069\u061c\u200e\u200f\u200b\u2060\ufeff"
            "\U000e0041\u180e\u00ad\u0085\u2028\u2029" + "\u0e4a" * 500,
}
# What a reader of the record goes by; another word would only leave things out.
KEPT = {"decision", "kind", "phase", "state", "which", "method", "call_id", "role", "type", "sha256",
        "digest", "blob", "ts"}

run, to, name = sys.argv[1:4]
lines = open(os.path.join(run, "transcript.jsonl"), "rb").read().split(b"\n")[:-1]
records = [json.loads(line) for line in lines]
diff = "".join(f"diff --git a/{i}.py b/{i}.py\n--- a/{i}.py\n+++ b/{i}.py\n@@ -1 +1 @@\n-a\n+b\n" for i in "ab")
last_message = "Done."
shutil.copytree(run, to)


def envelope(kind, turn, data):
    return (b'{"seq":0,"ts":"2026-11-21T03:14:15.926Z","type":"%s","turn":%d,"prev":"%s","data":%s}'
            % (kind.encode(), turn, b"0" * 64, data))


def coded(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def line_of(record):
    return envelope(record["type"], record["turn"], coded(record["data"]))


def hostile(value, text, key=""):
    """The value with the text before and after each of its own."""
    if isinstance(value, str):
        return value if key in KEPT else text + value + text
    if isinstance(value, list):
        return [hostile(each, text, key) for each in value]
    if isinstance(value, dict) and not isinstance(value.get("blob"), str):
        made = {each: hostile(one, text, each) for each, one in value.items()}
        if key in ("guarantees", "properties"):
            made[text] = {"proved": True, "detail": text}
        return made
    return value


def fill(text):
    """That text everywhere."""
    global lines, diff, last_message
    for record in records:
        if record["type"] == "model.request":
            continue
        artifacts = record["data"].get("result", record["data"]).get("artifacts")
        record["data"] = hostile(record["data"], text)
        if artifacts is not None:
            record["data"].get("result", record["data"])["artifacts"] = artifacts
    lines = [line_of(record) for record in records]
    one_line = text.replace("\n", " ")
    quoted = '"b/' + one_line.replace("\\", "\\\\").replace('"', '\\"') + '.js"'
    diff = "".join(
        f"diff --git {quoted.replace('b/', 'a/', 1)} {quoted}\nnew file mode 100644\n--- /dev/null\n+++ {quoted}\n"
        f"@@ -0,0 +1,3 @@ {one_line}\n+{one_line}\n+// {one_line}\n+/* '{one_line}\n" for _ in range(2))
    last_message = text


BAD = b"\xff\xfe\xc3(\xed\xa0\x80\xf0\x9f\xc0\xbcscript>\xf8<script>owned=1</script>"


def output_blob(whole):
    """All outputs are that blob."""
    os.makedirs(os.path.join(to, "blobs"), exist_ok=True)
    blob = "sha256-" + "a" * 64
    with open(os.path.join(to, "blobs", blob), "wb") as out:
        out.write(whole)
    for at, record in enumerate(records):
        if record["type"] in ("tool.output", "verification.completed"):
            record["data"]["output"] = {"blob": blob, "bytes": len(whole), "head": "<script>owned=1</script>"}
            lines[at] = line_of(record)


def broken_utf8():
    """Bytes that are no text: in outputs, in the diff, in the last message."""
    global diff, last_message
    output_blob((BAD + b"\n") * 2000)
    fill("BROKEN")
    diff = diff.encode().replace(b"BROKEN", BAD)
    last_message = BAD


def broken_record():
    """The same in a record."""
    fill("BROKEN")
    lines[-2] = lines[-2].replace(b"BROKEN", BAD)


def large_output():
    """100 MB of output of each call and each verification."""
    part = (FIELDS["script"] + "\n").encode() * 1000
    output_blob(part * (100_000_000 // len(part) + 1))


def large_record():
    """100 MB in one record."""
    fill(FIELDS["script"])
    records[-2]["data"]["output"] = FIELDS["script"] * (100_000_000 // len(FIELDS["script"]))
    lines[-2] = line_of(records[-2])


def many_records():
    """50,000 records: turns with denied and failed calls and with words."""
    global lines
    turn = [at for at, record in enumerate(records)
            if record["turn"] == 1 and not record["type"].startswith(("run.", "verification.", "diff.", "model.request"))]
    fill(FIELDS["script"][:200])
    more = []
    for number in range(50_000 // len(turn) + 1):
        for at in turn:
            records[at]["turn"] = number + 1
            more.append(line_of(records[at]))
    lines[turn[0]:turn[-1] + 1] = more


def long_line():
    """A file of one line of 50 MB, and names and words without a place to break."""
    global diff
    fill("W" * 3000)
    diff = "diff --git a/a.js b/a.js\n--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-a\n+" + "a('<b>');" * 5_500_000 + "\n"


def deep():
    """Values in values, 100,000 deep, unknown types, a record that ends nowhere."""
    lines.insert(-1, envelope("tool.output", 1, b'{"output":' + b"[" * 100_000 + b"]" * 100_000 + b"}"))
    lines.insert(-2, envelope("<script>owned=1</script>", 1, b'{"a":1}'))
    lines[-1] = lines[-1][:50]


def forged(value, number):
    """The value with that number in place of each of its own."""
    if isinstance(value, list):
        return [forged(each, number) for each in value]
    if isinstance(value, dict):
        return {each: one if each == "version" else forged(one, number) for each, one in value.items()}
    return number if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def numbers(number):
    """That number for each count, time and code."""
    for at, record in enumerate(records):
        record["data"] = forged(record["data"], number)
        lines[at] = line_of(record)


special = {"negative-numbers": lambda: numbers(-6), "large-numbers": lambda: numbers(9_000_000_000_000_000_000),
           "fractions": lambda: numbers(-6e300), "broken-utf8": broken_utf8, "broken-record": broken_record, "large-record": large_record,
           "large-output": large_output, "many-records": many_records,
           "long-line": long_line, "deep": deep}
if name in special:
    special[name]()
else:
    fill(FIELDS[name])
with open(os.path.join(to, "transcript.jsonl"), "wb") as out:
    out.write(b"\n".join(lines) + b"\n")
for file in os.listdir(to):
    if file in ("changes.diff", "partial.diff"):
        open(os.path.join(to, file), "wb").write(diff if isinstance(diff, bytes) else diff.encode())
open(os.path.join(to, "last-message.txt"), "wb").write(
    last_message if isinstance(last_message, bytes) else last_message.encode("utf-8", "surrogatepass"))
