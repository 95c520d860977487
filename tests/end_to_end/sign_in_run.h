#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/sign_in_file.h"

namespace sortie::test {

namespace fs = std::filesystem;

inline const std::string kOld = "2020-01-01T00:00:00Z";
inline const HttpHeaders kJson = {{"Content-Type", "application/json"}};

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Fresh as long as nobody sets the clock of this machine back.
inline std::string now_text() {
  char text[40];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

inline std::vector<ServedResponse> refreshing(const SignInFile& file) {
  return {served_status(200, kJson, file.answer())};
}

inline ServedResponse unauthorized(const std::string& words = "expired") {
  return served_status(401, kJson, R"({"error":{"message":")" + words + "\"}}");
}

/// Responses behind one that is refused.
inline std::vector<ServedResponse> behind(ServedResponse first, std::vector<ServedResponse> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

/// A run that is signed in by a file beside its workspace.
class SignedRun : public ProviderRun {
 public:
  SignInFile first{.last_refresh = now_text()};
  SignInFile second{.name = "second"};

  SignedRun() { fs::create_directory(path("home")); }
  fs::path file() const { return path("home/auth.json"); }
  ProgramStart start(const ModelServer& model, const std::string& refresh,
                     std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--auth-file", file()});
    ProgramStart made = ProviderRun::start(base_url(model), flags);
    made.environment["SORTIE_AUTH_URL"] = refresh;
    return made;
  }
};

inline std::string refresh_url(const ModelServer& server) { return server.url() + "/oauth/token"; }

inline std::string nobody_listens() { return ModelServer({}).url() + "/oauth/token"; }

inline std::vector<std::string> authorizations(const ModelServer& server) {
  std::vector<std::string> sent;
  for (const auto& request : server.requests())
    sent.emplace_back(header_value(request.headers, "Authorization"));
  return sent;
}

inline unsigned mode_of(const fs::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 07777;
}

/// Two runs with one sign-in, the file of which is locked until they are let go.
class TwoRuns {
 public:
  TwoRuns(const SignedRun& run, const ModelServer& one, const ModelServer& other,
          const ModelServer& refresh)
      : held_(locked(run.file())),
        first_(run.start(one, refresh_url(refresh), {"--out", run.path("out-1")})),
        second_(run.start(other, refresh_url(refresh), {"--out", run.path("out-2")})) {}
  /// Both end well.
  void let_go() {
    held_.reset();
    for (Program* program : {&first_, &second_}) {
      const ProgramEnd end = program->finish();
      BOOST_TEST(end.status == 0, end.errors);
    }
  }

 private:
  static Fd locked(const fs::path& file) {
    Fd held(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    BOOST_REQUIRE(::flock(held.get(), LOCK_EX) == 0);
    return held;
  }

  Fd held_;
  Program first_;
  Program second_;
};

/// What is in the file, but for the time of its refresh.
inline Json without_time(const std::string& text) {
  Json document = parse_json(text);
  document.set("last_refresh", "");
  return document;
}

/// The parts of tokens that nobody else has.
inline std::vector<std::string> marks() {
  std::vector<std::string> found;
  for (const std::string name : {"first", "second"})
    for (const std::string kind : {"access-", "id-", "refresh-"}) found.push_back(kind + name);
  return found;
}

inline void check_unseen(const std::string& text, const SignedRun& run) {
  for (const std::string& mark : marks()) BOOST_TEST(!holds(text, mark), mark);
  for (const SignInFile& file : {run.first, run.second})
    for (const std::string& token : {file.access_token(), file.id_token(), file.account})
      BOOST_TEST(!holds(text, token), token);
}

using Sent = std::vector<std::string>;

}  // namespace sortie::test
