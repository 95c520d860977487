#include "core/git/stored_bytes.h"

#include <git2/sys/repository.h>

#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/config/rule_files.h"
#include "core/git/git_repository.h"
#include "core/git/working_tree_encoding.h"

namespace sortie {
namespace {

const char* look_up(git_repository& repository, const std::string& path, const char* name) {
  const char* value = nullptr;
  check_git(git_attr_get(&value, &repository, GIT_ATTR_CHECK_FILE_THEN_INDEX, path.c_str(), name),
            "attributes: " + path_text(path));
  return value;
}

bool has_ident(git_repository& repository, const std::string& path) {
  return git_attr_value(look_up(repository, path, "ident")) == GIT_ATTR_VALUE_TRUE;
}

std::string filter_step(const std::string& path) { return "line ends: " + path_text(path); }

/// libgit2's filters for line ends and `ident`; the latter knows a file's first keyword only.
GitFilters filters_for(git_repository& repository, const std::string& path,
                       git_filter_mode_t direction) {
  GitFilters filters;
  check_git(git_filter_list_load(GitOut(filters), &repository, nullptr, path.c_str(), direction,
                                 GIT_FILTER_ALLOW_UNSAFE),
            filter_step(path));
  return filters;
}

std::string filtered(git_repository& repository, const std::string& path, std::string content,
                     git_filter_mode_t direction) {
  const GitFilters filters = filters_for(repository, path, direction);
  if (!filters) return content;
  git_buf made = GIT_BUF_INIT;
  const int result =
      git_filter_list_apply_to_buffer(&made, filters.get(), content.data(), content.size());
  std::string text = result < 0 ? "" : std::string(made.ptr, made.size);
  git_buf_dispose(&made);
  check_git(result, filter_step(path));
  return text;
}

/// The text with each "Id:…$" after a dollar replaced.
/// @param id  "$Id: ID $" is written; "": "$Id$"
std::string with_keywords(std::string_view text, const std::string& id) {
  const std::string word = id.empty() ? "Id$" : "Id: " + id + " $";
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t dollar = text.find('$', at);
    if (dollar == text.npos) return made += text.substr(at);
    made += text.substr(at, dollar + 1 - at);
    at = dollar + 1;
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("Id$")) {
      made += word;
      at += 3;
    } else if (rest.starts_with("Id:")) {
      const std::size_t end = rest.find('$', 3);
      if (end == rest.npos) return made += rest;
      if (rest.substr(0, end).find('\n') != rest.npos) continue;
      // A keyword of another system has blanks in it: "$Id: a.c,v 1.1 $".
      const std::size_t blank = rest.substr(0, end).find(' ', 4);
      if (!id.empty() && blank != rest.npos && blank + 1 < end) continue;
      made += word;
      at += end + 1;
    }
  }
  return made;
}

std::string encoding_of(git_repository& repository, const std::string& path) {
  std::string encoding = attribute_value(repository, path, "working-tree-encoding");
  return is_other_encoding(encoding) ? encoding : "";
}

}  // namespace

std::string attribute_value(git_repository& repository, const std::string& path, const char* name) {
  const char* const value = look_up(repository, path, name);
  return git_attr_value(value) == GIT_ATTR_VALUE_STRING ? value : "";
}

bool converts_text(git_repository& repository, const std::string& path) {
  return has_ident(repository, path) || !encoding_of(repository, path).empty();
}

bool may_convert(git_repository& repository, const std::string& path) {
  return converts_text(repository, path) ||
         filters_for(repository, path, GIT_FILTER_TO_ODB) != nullptr;
}

bool same_but_ids(const std::string& one, const std::string& other) {
  return one == other || with_keywords(one, "") == with_keywords(other, "");
}

std::string stored_bytes(git_repository& repository, const std::string& path,
                         const std::string& content) {
  std::string text = content;
  if (const std::string encoding = encoding_of(repository, path);
      !encoding.empty() && !content.empty())
    if (auto decoded = decoded_file(encoding, content)) text = std::move(*decoded);
  if (has_ident(repository, path)) text = with_keywords(text, "");
  return filtered(repository, path, std::move(text), GIT_FILTER_TO_ODB);
}

std::string tree_bytes(git_repository& repository, const std::string& path,
                       const std::string& stored) {
  std::string text = stored;
  if (has_ident(repository, path)) text = with_keywords(text, id_text(blob_id(stored)));
  text = filtered(repository, path, std::move(text), GIT_FILTER_TO_WORKTREE);
  if (const std::string encoding = encoding_of(repository, path);
      !encoding.empty() && !text.empty())
    if (auto encoded = encoded_file(encoding, text)) text = std::move(*encoded);
  return text;
}

WorkTreeBytes::WorkTreeBytes(git_repository& repository, std::filesystem::path toplevel)
    : repository_(repository), toplevel_(std::move(toplevel)) {
  GitIndex index;
  if (git_repository_index(GitOut(index), &repository) == 0) return;
  GitIndex empty;
  check_git(git_index_new(GitOut(empty)), "index");
  check_git(git_repository_set_index(&repository, empty.get()), "index");
}

void WorkTreeBytes::refuse_blocking(const std::string& path) const {
  if (const auto file = blocking_rule_file(toplevel_, path, ".gitattributes"); !file.empty())
    throw Error(path_text(file) + ": not a regular file, and git would block on it",
                ExitCode::environment);
}

std::string WorkTreeBytes::to_git(const std::string& path, const std::string& content) const {
  refuse_blocking(path);
  return stored_bytes(repository_, path, content);
}

std::string WorkTreeBytes::to_tree(const std::string& path, const std::string& stored) const {
  refuse_blocking(path);
  return tree_bytes(repository_, path, stored);
}

bool WorkTreeBytes::is_stored(const std::string& path, const std::string& content) const {
  refuse_blocking(path);
  return converts_text(repository_, path) || stored_bytes(repository_, path, content) == content;
}

}  // namespace sortie
