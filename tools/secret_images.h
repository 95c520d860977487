#pragma once

#include <string>
#include <vector>

#include "core/catalog/item.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Takes out the images whose bytes hold what is redacted in a tool's output: a comment, a chunk of
/// metadata, what stands behind the end. Nothing can be replaced in them: a mark would break the
/// file. What is drawn, or compressed inside, is not seen.
///
/// @return  a remark that names the images, from 1, and what they hold; "" where all stay
std::string take_out_secret_images(std::vector<Image>& images, const Redactor& redactor);

}  // namespace sortie
