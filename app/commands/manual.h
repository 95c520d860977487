#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sortie {

/// The man page sortie(1) in man(7) format, from the same text as --help.
std::string man_page(const CLI::App& root);

}  // namespace sortie
