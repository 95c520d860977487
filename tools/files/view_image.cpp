#include "tools/files/view_image.h"

#include "core/base/error.h"
#include "core/images/image_file.h"
#include "core/text/base64.h"
#include "core/text/git_quote.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"
#include "tools/workspace_path.h"

namespace sortie {
namespace {

/// Why the content can't be shown as an image.
std::string why_not_shown(std::string_view content) {
  if (content.empty()) return "is empty";
  const std::string_view format = image_format(content);
  if (!format.empty())
    return "begins like a " + std::string(format) +
           " image, but is cut off or damaged before its width and height";
  return "is not a PNG, JPEG, GIF or WebP image (by content; the name does not matter)";
}

}  // namespace

ViewImage::ViewImage(const Files& files, std::filesystem::path workspace, HiddenPaths hidden)
    : files_(files), workspace_(std::move(workspace)), hidden_(std::move(hidden)) {
  spec_.name = "view_image";
  spec_.description =
      "Shows you an image file of the workspace, unscaled: PNG, JPEG, GIF or WebP, at most 10 MiB.";
  spec_.parameters = parse_json(R"({
    "type": "object",
    "properties": {"path": {"type": "string", "minLength": 1,
                            "description": "File in the workspace."}},
    "required": ["path"],
    "additionalProperties": false
  })");
}

std::vector<Action> ViewImage::actions(const Json& arguments) const {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  return {ReadPath{path}, ReadPath{files_.resolve(path)}};
}

ToolResult ViewImage::run(const Json& arguments, std::stop_token stop) {
  const auto path = workspace_path(arguments.string_at("path"), workspace_);
  const std::string name = one_line(git_quoted_for_reading(path.native()), 400);
  const auto content = files_.read(path, kMaxImageBytes);
  if (!content) throw ToolError(missing_path(files_, path, hidden_));
  // Reading from a slow disk may take long; after a stop nobody would see the image.
  if (stop.stop_requested()) throw ToolError(name + " is not shown: the run is ending");
  const auto header = read_image_header(*content);
  if (!header) throw ToolError(name + " " + why_not_shown(*content));
  // Every later request contains the image: one that a provider can't decode would end the run.
  if (const auto problem = image_problem(*content, *header); !problem.empty())
    throw ToolError(name + " " + problem);
  ToolResult result;
  result.text = name + ": " + header->media_type + ", " + std::to_string(header->width) + " x " +
                std::to_string(header->height) + " pixels, " + size_in_words(content->size());
  result.images.push_back({.media_type = header->media_type,
                           .base64 = base64_encoded(*content),
                           .width = header->width,
                           .height = header->height});
  return result;
}

}  // namespace sortie
