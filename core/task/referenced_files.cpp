#include "core/task/referenced_files.h"

#include <utility>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/images/image_file.h"
#include "core/json/json_schema.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::uint64_t kMaxPromptBytes = 1u << 20;
constexpr std::uint64_t kMaxSchemaBytes = 1u << 20;
constexpr const char* kSchemaFile = "schema file";

}  // namespace

void ReferencedFiles::refuse(const std::filesystem::path& file, const std::string& what,
                             const std::string& problem, const TextPlace& place) {
  findings_.error(place, what + " '" + one_line(file.string()) + "': " + problem);
}

bool ReferencedFiles::may_read(const std::filesystem::path& file, const std::string& what,
                               const TextPlace& place) {
  if (refused_ == nullptr) return false;
  const auto refused = refused_->find(file);
  if (refused == refused_->end()) return true;
  refuse(file, what, refused->second, place);
  return false;
}

std::optional<std::string> ReferencedFiles::read_prompt(const std::filesystem::path& file,
                                                        const TextPlace& place) {
  TextFile read = read_text_file(file, kMaxPromptBytes);
  if (read.problem.empty() && is_blank_prompt(read.text)) read.problem = "is blank";
  if (read.problem.empty()) return std::move(read.text);
  refuse(file, "prompt file", read.problem, place);
  return std::nullopt;
}

void ReferencedFiles::read_image(TaskImage& image, const TextPlace& place) {
  if (!may_read(image.path, "image", place)) return;
  if (const std::string problem = load_image(image); !problem.empty())
    refuse(image.path, "image", problem, place);
}

std::optional<Json> ReferencedFiles::read_schema(const std::filesystem::path& file,
                                                 const TextPlace& place) {
  if (!may_read(file, kSchemaFile, place)) return std::nullopt;
  TextFile read = read_text_file(file, kMaxSchemaBytes);
  try {
    if (!read.problem.empty()) throw InputError(read.problem);
    Json schema = parse_json(read.text);
    if (!schema.is_object()) throw InputError("not a JSON object");
    JsonSchema compiled(schema);
    return schema;
  } catch (const JsonError& error) {
    const std::size_t source = findings_.add_source(file.string(), read.text);
    findings_.error(place_at(read.text, source, error.offset()), error.what());
  } catch (const InputError& error) {
    refuse(file, kSchemaFile, error.what(), place);
  }
  return std::nullopt;
}

std::string load_image(TaskImage& image) {
  TextFile file = read_bytes_file(image.path, kMaxImageBytes);
  const auto header = read_image_header(file.text);
  if (file.problem.empty() && !header)
    file.problem = file.text.empty() ? "is empty" : "not a PNG, JPEG, GIF or WebP image";
  else if (file.problem.empty())
    file.problem = image_problem(file.text, *header);
  if (!file.problem.empty()) return file.problem;
  image.header = *header;
  image.content = std::move(file.text);
  return "";
}

bool is_blank_prompt(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace sortie
