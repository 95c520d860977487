#include "tools/secret_images.h"

#include <utility>

#include "core/secrets/codings.h"

namespace sortie {

std::string take_out_secret_images(std::vector<Image>& images, const Redactor& redactor) {
  std::string remark;
  std::vector<Image> kept;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string name = redactor.find(base64_decoded(images[i].base64), Audience::tools);
    if (name.empty()) {
      kept.push_back(std::move(images[i]));
      continue;
    }
    remark += remark.empty() ? "" : "; ";
    remark += (images.size() == 1 ? "the image" : "image " + std::to_string(i + 1)) +
              std::string(" is not shown: its file holds [REDACTED:") + name + ']';
  }
  images = std::move(kept);
  return remark;
}

}  // namespace sortie
