#include "slug.h"

#include <cctype>

std::string slug(std::string title) {
  for (char& c : title) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return title;
}
