#include "core/text/deceptive.h"

#include <cstdio>

#include "core/text/code_point.h"

namespace sortie {
namespace {

constexpr CodePointRange kDeceptive[] = {
    {0x80, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200B},
    {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE007F}};

}  // namespace

bool is_deceptive(char32_t code) noexcept { return is_in(code, kDeceptive); }

std::string named_character(char32_t code) {
  char name[16];
  std::snprintf(name, sizeof name, "[U+%04X]", static_cast<unsigned>(code));
  return name;
}

}  // namespace sortie
