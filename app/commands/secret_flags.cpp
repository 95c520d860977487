#include "app/commands/secret_flags.h"

namespace sortie {

void add_secret_flags(CLI::App& app, LaterSecrets& secrets) {
  app.add_option("--api-key-file", secrets.api_key_file, "the run's key file: its key is redacted");
  app.add_option("--auth-file", secrets.auth_file, "the run's sign-in: its tokens are redacted");
}

}  // namespace sortie
