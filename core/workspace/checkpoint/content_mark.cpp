#include "core/workspace/checkpoint/content_mark.h"

#include "core/base/hash.h"

namespace sortie {

std::string content_mark(const Files& files, const std::string& path) {
  const auto status = files.status(path);
  if (!status) return "";
  using Kind = FileStatus::Kind;
  if (status->kind == Kind::symlink) return "link " + sha256_hex(files.read_link(path));
  if (status->kind == Kind::folder) return "folder";
  if (status->kind != Kind::file) return "other";
  const std::string kind = (status->mode & 0100) != 0 ? "program " : "file ";
  if (status->size > kMostFileBytes) return kind + std::to_string(status->size);
  return kind + sha256_hex(files.read(path).value_or(""));
}

std::string json_name(const std::string& path) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string name;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%')
      name += c;
    else
      name += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return name;
}

std::string path_named(const std::string& name) {
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  std::string path;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 2 < name.size()) {
      path += static_cast<char>(digit(name[i + 1]) * 16 + digit(name[i + 2]));
      i += 2;
    } else {
      path += name[i];
    }
  }
  return path;
}

std::pair<std::string_view, std::string_view> split_marked(std::string_view line) {
  // A name may have spaces; a mark has one if there is a digest or a size in it.
  std::size_t end = line.find(' ');
  const std::string_view kind = line.substr(0, end);
  if ((kind == "file" || kind == "program" || kind == "link") && end != line.npos)
    end = line.find(' ', end + 1);
  if (end == line.npos) return {line, {}};
  return {line.substr(0, end), line.substr(end + 1)};
}

}  // namespace sortie
