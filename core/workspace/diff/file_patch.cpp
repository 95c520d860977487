#include "core/workspace/diff/file_patch.h"

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/git_repository.h"
#include "core/text/text.h"
#include "core/workspace/diff/binary_patch.h"
#include "core/workspace/diff/text_hunks.h"

namespace sortie {
namespace {

std::string apply_body(const FilePatch& patch, const std::string& before) {
  if (patch.body.empty()) return patch.deletes() ? "" : before;
  return patch.header.text ? apply_hunks(before, patch.body)
                           : apply_binary_patch(before, patch.body);
}

/// @throws Error  the patch says that it makes another content
void check_id(const FilePatch& patch, const std::string& made) {
  const std::string& id = patch.header.new_id;
  if (!id.empty() && !patch.deletes() && id_text(blob_id(made)) != id)
    throw Error("makes another content than it says");
}

/// What `step` returns; its error names the patch.
template <typename Step>
auto of_patch(const FilePatch& patch, Step step) {
  try {
    return step();
  } catch (const Error& error) {
    throw Error("the diff of '" + path_text(patch.path()) + "' is wrong: " + error.what(),
                ExitCode::integrity);
  }
}

/// Where the line before the next patch ends.
std::size_t find_next(std::string_view diff, const ReadOn& read_on) {
  constexpr std::string_view kNext = "\ndiff --git ";
  for (std::size_t at = 0; at < diff.size(); at += kReadOnBytes) {
    const auto found = diff.substr(at, kReadOnBytes + kNext.size() - 1).find(kNext);
    if (found != diff.npos) return at + found;
    if (read_on) read_on();
  }
  return diff.npos;
}

}  // namespace

FilePatch take_patch(std::string_view& diff, const ReadOn& read_on) {
  const auto next = find_next(diff, read_on);
  FilePatch patch;
  patch.body = diff.substr(0, next == diff.npos ? diff.size() : next + 1);
  const std::string_view title = patch.body.substr(0, patch.body.find('\n'));
  diff.remove_prefix(patch.body.size());
  try {
    patch.header = read_header(patch.body);
  } catch (const Error& error) {
    throw Error("the diff is not in the form that sortie writes: " +
                    one_line(repair_utf8(title), 200) + ": " + error.what(),
                ExitCode::integrity);
  }
  return patch;
}

std::string patched_content(const FilePatch& patch, const std::string& before) {
  return of_patch(patch, [&] {
    std::string made = apply_body(patch, before);
    if (patch.deletes() && !made.empty()) throw Error("deletes a part of a file");
    check_id(patch, made);
    return made;
  });
}

bool patch_gives(const FilePatch& patch, const std::string& before, const std::string& after,
                 const ReadOn& read_on) {
  return of_patch(patch, [&] {
    const bool gives = !patch.body.empty() && patch.header.text
                           ? hunks_give(before, patch.body, after, read_on)
                           : apply_body(patch, before) == after;
    if (gives) check_id(patch, after);
    return gives;
  });
}

}  // namespace sortie
