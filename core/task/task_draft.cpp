#include "core/task/task_draft.h"

namespace sortie {

std::filesystem::path absolute_path(const std::filesystem::path& folder, const std::string& text) {
  std::filesystem::path path = (folder / text).lexically_normal();
  if (!path.has_filename() && path.has_relative_path()) path = path.parent_path();  // "src/"
  return path;
}

Json path_json(const std::filesystem::path& path) {
  return path.empty() ? Json() : Json(path.string());
}

FieldValue path_value(std::filesystem::path& target, const std::filesystem::path& folder) {
  Json schema = Json::object({{"type", "string"}, {"minLength", 1}});
  if (!target.empty()) schema.set("default", target.string());
  return {
      .schema = std::move(schema),
      .read =
          [&target, folder](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (const auto text = read_text(node, name, {}, findings))
              target = absolute_path(folder, *text);
          },
      .write = [&target] { return path_json(target); }};
}

}  // namespace sortie
