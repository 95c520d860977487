#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The passwords in a text's addresses ("https://user:PASSWORD@host"), as they stand and
/// percent-decoded; the user's name too where it looks like a token ("https://TOKEN@host").
std::vector<std::string> address_passwords(std::string_view text);

/// What an HTTP header with credentials holds of them: "AUTHORIZATION: basic dXNlcjpwYXNz" gives
/// the coded part and the password in it, "PRIVATE-TOKEN: x" and "Bearer x" give x.
std::vector<std::string> header_credentials(std::string_view header);

}  // namespace sortie
