#include "tests/support/test_authority.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace sortie::test {

TestAuthority::TestAuthority(std::filesystem::path folder) : folder_(std::move(folder)) {
  run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=test "
      "authority' -keyout ca.key -out ca.pem");
}

std::string TestAuthority::hashed_folder() const {
  const auto hashed = folder_ / "hashed";
  std::filesystem::create_directories(hashed);
  std::filesystem::copy_file(folder_ / "ca.pem", hashed / "ca.pem",
                             std::filesystem::copy_options::overwrite_existing);
  run("rehash hashed");
  return hashed.string();
}

ServerCertificate TestAuthority::issue(const std::string& name, const std::string& names,
                                       int days) const {
  std::ofstream(folder_ / (name + ".ext")) << "subjectAltName=" << names << "\n";
  run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=" + name + "' -keyout " +
      name + ".key -out " + name + ".csr");
  run("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days " +
      std::to_string(days) + " -extfile " + name + ".ext -out " + name + ".pem");
  return {(folder_ / (name + ".pem")).string(), (folder_ / (name + ".key")).string()};
}

void TestAuthority::run(const std::string& arguments) const {
  const std::string command =
      "cd '" + folder_.string() + "' && openssl " + arguments + " >openssl.log 2>&1";
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: openssl " + arguments);
}

}  // namespace sortie::test
