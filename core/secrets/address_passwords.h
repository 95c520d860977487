#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The passwords in a text's addresses ("https://user:PASSWORD@host"), raw and percent-decoded;
/// also a user name that looks like a token ("https://TOKEN@host").
std::vector<std::string> address_passwords(std::string_view text);

/// The credentials in an HTTP header: "AUTHORIZATION: basic dXNlcjpwYXNz" gives the encoded part
/// and the password in it, "PRIVATE-TOKEN: x" and "Bearer x" give x.
std::vector<std::string> header_credentials(std::string_view header);

}  // namespace sortie
