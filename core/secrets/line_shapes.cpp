#include "core/secrets/line_shapes.h"

namespace sortie {
namespace {

/// A name of a credential and what assigns it a value: "password = ", "api_key: ", "secret => ".
constexpr std::string_view kAssigned =
    R"re((?i)(?:\b|_)(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|)re"
    R"re(private[_-]?key|client[_-]?secret|credentials?)["']?\s*(?:=>|=|:)\s*)re";
// A value in quotes may hold blanks; one without ends at what ends a word in shells and URLs.
// "$X", "${{ … }}", "<…>", "%s" and "***" stand for a value and are none; nor is our own mark.
constexpr std::string_view kDoubleQuoted = R"re("([^"$<{%*\[][^"]{3,})re";
constexpr std::string_view kSingleQuoted = R"re('([^'$<{%*\[][^']{3,})re";
constexpr std::string_view kBare = R"re(([^\s"'$<{%*\[(&,;][^\s"'&,;()]{3,})re";
constexpr const char* kBearer = R"re((?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{12,}=*))re";
constexpr const char* kWebToken =
    R"re(\b(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*))re";
constexpr const char* kUserInfo =
    R"re(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?#:@"'<>]*:([^\s/?#@"'<>$\[{]{2,})@)re";

}  // namespace

const std::vector<LineShape>& loose_shapes() {
  static const std::vector<LineShape> shapes = [] {
    std::vector<LineShape> list;
    for (const auto value : {kDoubleQuoted, kSingleQuoted, kBare})
      list.push_back({"password",
                      Pattern::line_expression(std::string(kAssigned) + std::string(value) + ")"),
                      1});
    list.push_back({"credential", Pattern::line_expression(kBearer), 1});
    list.push_back({"web-token", Pattern::line_expression(kWebToken), 1});
    list.push_back({"password", Pattern::line_expression(kUserInfo), 1});
    return list;
  }();
  return shapes;
}

}  // namespace sortie
