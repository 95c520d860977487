#include "app/show/job_notes.h"

#include <optional>
#include <system_error>

#include "core/base/own_variable.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kErrorMark = "error: ";

fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : found;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// The file below the tree's folder, as a plain path; "" if the tree has none of this name.
std::string path_in(const NotedTree& tree, const std::string& file) {
  fs::path path = fs::path(file).lexically_normal();
  if (path.is_absolute()) path = path_below(path, tree.folder).value_or("");
  if (!is_plain_path(path.string())) return "";
  const bool there = is_file(tree.folder / path) || (tree.made && tree.made(path.string()));
  return there ? path.string() : "";
}

}  // namespace

std::string name_in_notes(const fs::path& file) {
  const fs::path path = real_path(file);
  for (const std::string& job :
       {own_variable("GITHUB_WORKSPACE"), own_variable("BUILD_SOURCESDIRECTORY")}) {
    if (job.empty()) continue;
    if (const auto below = path_below(path, real_path(job))) return below->string();
  }
  return path.string();
}

std::string notes_of_error(const CiLog& log, std::string_view status, std::string_view text,
                           std::string_view next) {
  if (!log.has_notes()) return "";
  const std::string title = "sortie: " + std::string(status);
  std::string notes;
  std::size_t count = 0;
  for (const std::string_view line : split_lines(text)) {
    // Lines of a source are shown indented, and may look the same.
    auto found = line.starts_with(' ') ? std::nullopt : placed_text(line);
    if (!found || !is_file(found->place.file)) continue;
    std::string_view words = found->text;
    if (words.starts_with(kErrorMark)) words.remove_prefix(kErrorMark.size());
    if (words.starts_with("note: ") || ++count > kMostNotes) continue;
    found->place.file = name_in_notes(found->place.file);
    notes += log.error(title, words, found->place);
  }
  if (!notes.empty()) return notes;
  const std::string_view first = text.substr(0, text.find('\n'));
  return log.error(title, std::string(first) + std::string(next));
}

std::string notes_of_output(const CiLog& log, std::string_view title, std::string_view output,
                            const NotedTree& tree, std::size_t most) {
  if (!log.has_notes()) return "";
  std::string notes;
  std::size_t count = 0;
  for (PlacedText& found : placed_texts(output)) {
    const std::string path = path_in(tree, found.place.file);
    if (path.empty()) continue;
    if (++count > most) break;
    found.place.file = name_in_notes(tree.folder / path);
    notes += log.error(title, found.text.empty() ? "failed here" : found.text, found.place);
  }
  return notes;
}

}  // namespace sortie
