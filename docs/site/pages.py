"""Hooks of mkdocs: which files are pages of the site, and where links between them lead.

The documents link to files of the repository as they lie there. So pages keep their places: README.md
is the site's index, docs/task.md becomes docs/task.html. What pages link to beyond that is copied
(a file) or listed (a folder). A page that is in no place of the navigation is an error, as broken
links are.
"""

import os
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "build" / "docs-pages"  # the lists of folders
TOP_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "samples/README.md",
             "policies/shell/GRAMMAR.md")
# Not `![…](…)` alone: a picture's file is copied as well.
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^(```|~~~)")


def heading_name(text, separator):
    """GitHub's name of a heading: its links have to work in both places."""
    kept = "".join(c for c in text.strip().lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", separator)


def links_of(text):
    """What a page links to within the repository, outside of its fenced blocks."""
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield from (match.group(2) for match in LINK.finditer(line)
                        if "://" not in match.group(2) and not match.group(2).startswith("mailto:"))


def target_of(page, link):
    """The linked file's path in the repository; None where there is none in it."""
    path = Path(os.path.normpath(ROOT / Path(page).parent / link))
    return path.relative_to(ROOT).as_posix() if path.exists() and ROOT in path.parents else None


def list_folder(folder):
    """A page that lists the folder's files, each a link to its text; and these files."""
    files = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*")
                   if path.is_file() and "__pycache__" not in path.parts)
    page = GENERATED / folder / "index.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    # Of a sample's own pages the name will do: as pages of the site they would lie beside its others.
    rows = (f"- `{path}`\n" if path.endswith(".md") else f"- [{path}]({os.path.relpath(path, folder)})\n"
            for path in files)
    page.write_text(f"# {folder}\n\n{''.join(rows)}", encoding="utf-8")
    return page, [path for path in files if not path.endswith(".md")]


def on_config(config):
    config["mdx_configs"]["toc"] = {"slugify": heading_name, "permalink": "#",
                                    "permalink_title": "Link to this heading"}
    return config


def on_files(files, config):
    site = config["site_dir"]

    def file(path, root=ROOT):
        return File(path, str(root), site, config["use_directory_urls"])

    pages = list(TOP_PAGES)
    pages += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    found = {page: file(page) for page in pages}
    for page in pages:
        for link in links_of((ROOT / page).read_text(encoding="utf-8")):
            target = target_of(page, link)
            if target is None or target in found:
                continue
            if (ROOT / target).is_file():
                found[target] = file(target)
                continue
            if (ROOT / target / "README.md").is_file() and f"{target}/README.md" in found:
                continue
            _, listed = list_folder(target)
            found[f"{target}/index.md"] = file(f"{target}/index.md", GENERATED)
            found.update((path, file(path)) for path in listed)
    # The documents' folder was read as well; what the theme and the search have comes from elsewhere.
    theme = (entry for entry in files
             if Path(entry.abs_src_path) != ROOT / "docs" / entry.src_uri)
    return Files([*found.values(), *theme])


def on_nav(nav, config, files):
    named = {page.file.src_uri for page in nav.pages}
    lost = [file.src_uri for file in files.documentation_pages()
            if file.src_uri not in named and not file.src_uri.endswith("/index.md")]
    if lost:
        raise PluginError(f"{', '.join(lost)}: in no place of `nav` in docs/site/mkdocs.yml")
    return nav


def on_page_markdown(markdown, page, config, files):
    """Links to folders lead to their lists."""
    def lead(match):
        target = target_of(page.file.src_uri, match.group(2)) if "://" not in match.group(2) else None
        if target is None or not (ROOT / target).is_dir():
            return match.group(0)
        own = "README.md" if files.get_file_from_path(f"{target}/README.md") else "index.md"
        return f"{match.group(1)}{match.group(2).rstrip('/')}/{own}{match.group(3)}"

    fenced = False
    lines = []
    for line in markdown.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        lines.append(line if fenced else LINK.sub(lead, line))
    return "\n".join(lines)
