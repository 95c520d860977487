#include "core/workspace/diff/patch_header.h"

#include <cstdio>

#include "core/base/error.h"
#include "core/text/git_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kEscaped = "\a\b\t\n\v\f\r\"\\";
constexpr std::string_view kLetters = "abtnvfr\"\\";

std::string mode_text(unsigned mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%06o", mode);
  return text;
}

/// git (2.39) can't find the end of an unquoted name with " /" in a patch without "---" lines.
std::string quote_path(std::string_view path) {
  std::string quoted = git_quoted(path);
  if (quoted.size() != path.size() || path.find(" /") == std::string_view::npos) return quoted;
  return '"' + quoted + '"';
}

/// "--- a/x" and "+++ b/x": a tab marks the end of a name with blanks.
std::string file_line(const std::string& mark, const std::string& prefix, const std::string& path,
                      unsigned mode) {
  if (mode == 0) return mark + " /dev/null\n";
  const bool blank = path.find(' ') != std::string::npos;
  return mark + " " + quote_path(prefix + path) + (blank ? "\t\n" : "\n");
}

[[noreturn]] void bad_line(std::string_view line) {
  throw Error("unexpected line '" + one_line(repair_utf8(line)) + "'");
}

std::string_view take_header_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) bad_line(text);
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool begins(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The rest of a line that begins with `prefix`, or false with the text left as it is.
bool take(std::string_view& text, std::string_view prefix, std::string_view& rest) {
  if (!begins(text, prefix)) return false;
  rest = take_header_line(text).substr(prefix.size());
  return true;
}

/// Takes one quoted name off the front.
std::string unquote(std::string_view& text) {
  auto name = take_git_quoted(text);
  if (!name) bad_line(text);
  return std::move(*name);
}

std::string read_name(std::string_view text) {
  if (text.empty() || text.front() != '"') return std::string(text);
  std::string_view rest = text;
  std::string name = unquote(rest);
  if (!rest.empty()) bad_line(text);
  return name;
}

std::string without_start(const std::string& name, std::string_view prefix) {
  if (!begins(name, prefix)) bad_line(name);
  return name.substr(prefix.size());
}

/// The name X of "a/X b/X"; "" for a rename, whose names are in other lines.
std::string same_name(std::string_view names) {
  if (!names.empty() && names.front() == '"') {
    std::string_view rest = names;
    const std::string old_name = without_start(unquote(rest), "a/");
    if (!begins(rest, " \"")) return "";
    const std::string new_name = without_start(read_name(rest.substr(1)), "b/");
    return old_name == new_name ? old_name : "";
  }
  if (names.size() < 7 || names.size() % 2 == 0) return "";
  const std::size_t length = (names.size() - 5) / 2;
  const std::string name(names.substr(2, length));
  return "a/" + name + " b/" + name == names ? name : "";
}

unsigned read_mode(std::string_view text) {
  for (const unsigned mode : {0100644u, 0100755u, 0120000u}) {
    if (text == mode_text(mode)) return mode;
  }
  bad_line(text);
}

void read_modes(std::string_view& text, PatchHeader& header) {
  std::string_view rest;
  if (take(text, "new file mode ", rest)) {
    header.new_mode = read_mode(rest);
  } else if (take(text, "deleted file mode ", rest)) {
    header.old_mode = read_mode(rest);
  } else if (take(text, "old mode ", rest)) {
    header.old_mode = read_mode(rest);
    if (!take(text, "new mode ", rest)) bad_line(text);
    header.new_mode = read_mode(rest);
  }
}

void read_rename(std::string_view& text, PatchHeader& header) {
  std::string_view rest;
  if (!take(text, "similarity index ", rest)) return;
  for (const char digit : rest.substr(0, rest.find('%'))) {
    header.similarity = header.similarity * 10 + (digit - '0');
  }
  if (!take(text, "rename from ", rest)) bad_line(text);
  header.old_path = read_name(rest);
  if (!take(text, "rename to ", rest)) bad_line(text);
  header.new_path = read_name(rest);
}

void read_ids(std::string_view& text, PatchHeader& header) {
  std::string_view rest;
  if (!take(text, "index ", rest)) return;
  if (rest.size() < 82 || rest.substr(40, 2) != "..") bad_line(rest);
  header.old_id = rest.substr(0, 40);
  header.new_id = rest.substr(42, 40);
  if (rest.size() == 82) return;
  header.old_mode = header.new_mode = read_mode(rest.substr(83));
}

}  // namespace

std::string write_header(const PatchHeader& header) {
  const bool both = header.old_mode != 0 && header.new_mode != 0;
  std::string text = "diff --git " + quote_path("a/" + header.old_path) + " " +
                     quote_path("b/" + header.new_path) + "\n";
  if (header.old_mode == 0) {
    text += "new file mode " + mode_text(header.new_mode) + "\n";
  } else if (header.new_mode == 0) {
    text += "deleted file mode " + mode_text(header.old_mode) + "\n";
  } else if (header.old_mode != header.new_mode) {
    text += "old mode " + mode_text(header.old_mode) + "\nnew mode " + mode_text(header.new_mode) +
            "\n";
  }
  if (header.old_path != header.new_path) {
    text += "similarity index " + std::to_string(header.similarity) + "%\nrename from " +
            quote_path(header.old_path) + "\nrename to " + quote_path(header.new_path) + "\n";
  }
  if (!header.old_id.empty()) {
    text += "index " + header.old_id + ".." + header.new_id;
    if (both && header.old_mode == header.new_mode) text += " " + mode_text(header.new_mode);
    text += "\n";
  }
  if (!header.text) return text;
  return text + file_line("---", "a/", header.old_path, header.old_mode) +
         file_line("+++", "b/", header.new_path, header.new_mode);
}

PatchHeader read_header(std::string_view& text) {
  const std::string_view whole = text;
  std::string_view names;
  if (!take(text, "diff --git ", names)) bad_line(text.substr(0, text.find('\n')));
  PatchHeader header;
  header.old_path = header.new_path = same_name(names);
  read_modes(text, header);
  read_rename(text, header);
  read_ids(text, header);
  header.text = begins(text, "--- ");
  if (header.text) {
    take_header_line(text);
    take_header_line(text);
  }
  // A pure rename has no mode, and readers don't need it: it is unchanged.
  PatchHeader written = header;
  if (written.old_id.empty() && written.old_mode == 0 && written.new_mode == 0) {
    written.old_mode = written.new_mode = 0100644;
  }
  // Writing the header again compares every byte, including both name lines.
  if (header.old_path.empty() || header.new_path.empty() ||
      write_header(written) != whole.substr(0, whole.size() - text.size())) {
    bad_line(whole.substr(0, whole.find('\n')));
  }
  return header;
}

}  // namespace sortie
