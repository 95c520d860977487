#include "app/setup/task_images.h"

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/images/image_file.h"
#include "core/text/base64.h"

namespace sortie {

std::vector<Image> task_images(const std::vector<TaskImage>& images, const Redactor& redactor) {
  std::vector<Image> shown;
  for (const TaskImage& image : images) {
    if (const std::string name = redactor.find(image.content); !name.empty())
      throw Error("images: " + path_text(image.path) + " holds the known secret " + name +
                      " in its bytes, and would take it to the model: write the image without it",
                  ExitCode::usage);
    shown.push_back({.media_type = image.header.media_type,
                     .base64 = base64_encoded(image.content),
                     .width = image.header.width,
                     .height = image.header.height});
  }
  return shown;
}

}  // namespace sortie
