#include "core/net/trusted_certificates.h"

#include <dirent.h>
#include <unistd.h>

#include <string_view>

#include "core/base/error.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Folders that have links named by hash: Debian, Ubuntu, Alpine, Arch; Fedora; SUSE.
constexpr const char* kFolders[] = {"etc/ssl/certs",
                                    "etc/pki/ca-trust/extracted/pem/directory-hash",
                                    "var/lib/ca-certificates/openssl"};
/// Bundles: Debian, Ubuntu, Gentoo, Arch; NixOS; Red Hat, Fedora, Amazon; SUSE; Alpine, BSDs.
constexpr const char* kBundles[] = {"etc/ssl/certs/ca-certificates.crt",
                                    "etc/ssl/certs/ca-bundle.crt",
                                    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                    "etc/pki/tls/certs/ca-bundle.crt",
                                    "etc/ssl/ca-bundle.pem",
                                    "var/lib/ca-certificates/ca-bundle.pem",
                                    "etc/ssl/cert.pem"};
constexpr const char* kBeside = "ca-certificates.crt";

/// Whether the folder has links named by hash, "5ed36f99.0": then OpenSSL finds a certificate when
/// it needs one. Reading a whole bundle instead costs some 25 ms at each start.
bool has_hash_links(const fs::path& folder) {
  DIR* listing = ::opendir(folder.c_str());
  if (!listing) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string_view name = entry->d_name;
    found = name.size() >= 10 && name[8] == '.' &&
            name.substr(0, 8).find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (found) break;
  }
  ::closedir(listing);
  return found;
}

}  // namespace

std::optional<TrustedCertificates> trusted_certificates(const fs::path& root,
                                                        const fs::path& program) {
  for (const char* folder : kFolders)
    if (has_hash_links(root / folder)) return TrustedCertificates{.folder = root / folder};
  for (const char* bundle : kBundles)
    if (::access((root / bundle).c_str(), R_OK) == 0)
      return TrustedCertificates{.file = root / bundle};
  if (program.empty()) return std::nullopt;
  const fs::path beside = program.parent_path() / kBeside;
  if (::access(beside.c_str(), R_OK) == 0) return TrustedCertificates{.file = beside};
  return std::nullopt;
}

TrustedCertificates own_trusted_certificates() {
  std::error_code unknown;  // without /proc
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (auto found = trusted_certificates("/", program)) return std::move(*found);
  throw Error(
      "no certificates of trusted authorities found: install ca-certificates, set SSL_CERT_FILE, "
      "or put a bundle named ca-certificates.crt beside the program",
      ExitCode::environment);
}

}  // namespace sortie
