#include "core/git/git_content.h"

#include <charconv>
#include <cstring>

#include "core/base/hash.h"
#include "core/git/config/rule_files.h"
#include "core/git/git_repository.h"
#include "core/text/text.h"

namespace sortie {
namespace fs = std::filesystem;
namespace {

/// git-lfs neither writes nor recognizes larger pointers.
constexpr std::size_t kLargestPointer = 1024;

std::string with_line_feeds(std::string_view content) {
  std::string text;
  text.reserve(content.size());
  for (std::size_t i = 0; i < content.size(); ++i)
    if (content[i] != '\r' || i + 1 == content.size() || content[i + 1] != '\n') text += content[i];
  return text;
}

/// The value of a line of a pointer: "oid sha256:…", "size 12".
std::string_view value_of(std::string_view pointer, std::string_view name) {
  for (const auto line : split_lines(pointer))
    if (line.starts_with(name)) return line.substr(name.size());
  return {};
}

}  // namespace

struct GitContent::Repository {
  FoundRepository found;
};

GitContent::~GitContent() = default;

GitContent::GitContent(const fs::path& workspace)
    : repository_(std::make_unique<Repository>(Repository{find_repository(workspace)})) {
  const FoundRepository& found = repository_->found;
  if (!found.handle)
    throw Error("not a git working tree: " + workspace.string(), ExitCode::environment);
  prefix_ = prefix_in(found.toplevel, workspace);
  const auto value = setting_of(*found.handle, "core.autocrlf");
  autocrlf_ = value == "input" || value == "true";
}

bool GitContent::is_blob(const TrackedFile& file, std::string_view content) {
  git_oid id;
  return git_odb_hash(&id, content.data(), content.size(), GIT_OBJECT_BLOB) == 0 &&
         std::memcmp(id.id, file.id.data(), file.id.size()) == 0;
}

/// The attribute's value; "" if unspecified, "-" if unset, "+" if set.
std::string GitContent::attribute(const std::string& path, const char* name) const {
  const char* const toplevel = git_repository_workdir(repository_->found.handle.get());
  if (toplevel != nullptr &&
      !blocking_rule_file(toplevel, prefix_ + path, ".gitattributes").empty())
    return "";  // unreadable: no attributes
  const char* value = nullptr;
  if (git_attr_get(&value, repository_->found.handle.get(), GIT_ATTR_CHECK_FILE_THEN_INDEX,
                   (prefix_ + path).c_str(), name) < 0)
    return "";
  switch (git_attr_value(value)) {
    case GIT_ATTR_VALUE_TRUE:
      return "+";
    case GIT_ATTR_VALUE_FALSE:
      return "-";
    case GIT_ATTR_VALUE_STRING:
      return value;
    default:
      return "";
  }
}

bool GitContent::converts_line_ends(const std::string& path) const {
  const std::string text = attribute(path, "text");
  if (text == "-") return false;
  if (!text.empty() || !attribute(path, "eol").empty()) return true;
  // The attribute's older name (gitattributes(5)).
  const std::string crlf = attribute(path, "crlf");
  return crlf == "-" ? false : !crlf.empty() || autocrlf_;
}

std::string GitContent::conversion(const std::string& path) const {
  for (const char* const name : {"filter", "working-tree-encoding"})
    if (const std::string value = attribute(path, name); value.size() > 1)
      return std::string(name) + "=" + value;
  return attribute(path, "ident") == "+" ? "ident" : "";
}

/// The index's content if it is a git-lfs pointer; else "".
std::string GitContent::pointer(const TrackedFile& file) const {
  git_oid id;
  std::memcpy(id.id, file.id.data(), file.id.size());
  GitOdb objects;
  std::size_t size = 0;
  git_object_t type = GIT_OBJECT_INVALID;
  if (git_repository_odb(GitOut(objects), repository_->found.handle.get()) < 0) return "";
  if (git_odb_read_header(&size, &type, objects.get(), &id) < 0 || size > kLargestPointer)
    return "";
  GitBlob blob;
  if (git_blob_lookup(GitOut(blob), repository_->found.handle.get(), &id) < 0) return "";
  std::string text = blob_text(blob);
  return text.starts_with("version https://git-lfs.github.com/spec/") ? text : "";
}

std::optional<std::uint64_t> GitContent::lfs_size(const TrackedFile& file) const {
  const std::string text = pointer(file);
  const std::string_view size = value_of(text, "size ");
  std::uint64_t bytes = 0;
  const auto read = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (size.empty() || read.ec != std::errc()) return std::nullopt;
  return bytes;
}

GitContent::Verdict GitContent::compare(const TrackedFile& file, std::string_view content) const {
  if (is_blob(file, content)) return Verdict::same;
  const std::string converted = conversion(file.path);
  if (converted == "filter=lfs") {
    const std::string text = pointer(file);
    const std::string_view digest = value_of(text, "oid sha256:");
    if (digest.empty()) return Verdict::changed;
    return digest == sha256_hex(content) ? Verdict::same : Verdict::changed;
  }
  if (!converted.empty()) return Verdict::filtered;
  if (content.find("\r\n") == content.npos || !converts_line_ends(file.path))
    return Verdict::changed;
  return is_blob(file, with_line_feeds(content)) ? Verdict::same : Verdict::changed;
}

}  // namespace sortie
