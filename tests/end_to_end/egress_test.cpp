// Commands of a network that is a list, with real programs and servers on loopback.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "tests/support/connect_proxy.h"
#include "tests/support/loopback_http.h"
#include "tests/support/run_folder.h"
#include "tests/support/test_authority.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Packages over TLS on 127.0.0.2, in a process of its own.
class PackageServer {
 public:
  PackageServer() : authority_(made()) {
    // node behind a proxy compares the certificate of a bare address with "localhost".
    const auto certificate = authority_.issue("server", "IP:127.0.0.2,DNS:localhost");
    ProgramStart start;
    start.argv = {"/usr/bin/python3", SORTIE_SOURCE_DIR "/tests/support/package_server.py",
                  (folder_ / "made").string(), certificate.certificate, certificate.key};
    program_.emplace(start);
    if (!wait_until([this] { return fs::exists(folder_ / "made/port"); }))
      throw std::runtime_error("the package server does not start");
    std::ifstream(folder_ / "made/port") >> port_;
  }
  std::string place() const { return "127.0.0.2:" + port_; }
  std::string url(const std::string& path) const { return "https://" + place() + path; }
  std::string port() const { return port_; }
  std::string bundle() const { return authority_.bundle(); }

 private:
  TestAuthority made() {
    fs::create_directory(folder_ / "made");
    return TestAuthority(folder_.path());
  }
  TemporaryFolder folder_;
  TestAuthority authority_;
  std::optional<Program> program_;
  std::string port_;
};

/// A run under a policy that lists the server, whose certificates the programs trust.
void prepare(const RunFolder& folder, const PackageServer& server, const std::string& allow,
             const CassetteWriter& cassette) {
  folder.write("work/ca.crt", "");
  fs::copy_file(server.bundle(), folder.workspace() / "ca.crt",
                fs::copy_options::overwrite_existing);
  folder.write("net.yaml",
               "version: 1\nextends: [auto]\nnetwork:\n  mode: allow-list\n  allow: [" + allow +
                   "]\nenvironment:\n  set: {CURL_CA_BUNDLE: ca.crt, GIT_SSL_CAINFO: ca.crt, "
                   "PIP_CERT: ca.crt}\n");
  folder.write_task(cassette, "policy: net.yaml\nexpect: {changes: any}\n");
}

std::vector<Caller> callers_with_namespaces() {
  std::vector<Caller> callers;
  for (const Caller& caller : all_callers())
    if (caller.namespaces) callers.push_back(caller);
  return callers;
}

/// Whether a program is there for everybody; what lies under somebody's HOME is not.
bool has(const std::string& program) {
  if (::access(program.c_str(), X_OK) == 0) return true;
  BOOST_TEST_MESSAGE("skipped: " << program << " is not installed");
  return false;
}

bool has_pip() {
  ProgramStart start;
  start.argv = {"/usr/bin/python3", "-m", "pip", "--version"};
  if (has("/usr/bin/python3") && run_program(start).status == 0) return true;
  BOOST_TEST_MESSAGE("skipped: python3 -m pip is not installed");
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(egress)

BOOST_AUTO_TEST_CASE(curl_git_npm_and_pip_go_through_the_proxy) {
  const PackageServer server;
  std::vector<std::pair<std::string, std::string>> rows;  // script, what it prints
  if (has("/usr/bin/curl"))
    rows.emplace_back("/usr/bin/curl -sS " + server.url("/hello.txt"), "hello from curl");
  rows.emplace_back(
      "git clone -q " + server.url("/repo.git") + " $TMPDIR/clone && cat $TMPDIR/clone/hello.txt",
      "hello from git");
  if (has("/usr/bin/npm"))
    rows.emplace_back(
        "mkdir $TMPDIR/n && C=$PWD/ca.crt && cd $TMPDIR/n && /usr/bin/npm install --cafile $C "
        "--fetch-retries 0 --no-audit --no-fund --registry " +
            server.url("/npm/") + " left-one && cat node_modules/left-one/index.js",
        "hello from npm");
  if (has_pip())
    rows.emplace_back(
        "/usr/bin/python3 -m pip install -q --no-deps --target $TMPDIR/p --index-url " +
            server.url("/simple/") + " onepkg && cat $TMPDIR/p/onepkg.py",
        "hello from pip");
  CassetteWriter cassette;
  for (const auto& row : rows) cassette.shell({"bash", "-c", row.first}).next();
  cassette.message("done");
  for (const Caller& caller : callers_with_namespaces()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      prepare(folder, server, "'" + server.place() + "'", cassette);
      const ProgramEnd end = folder.run_as(caller);
      BOOST_TEST(end.status == 0, end.errors);
      for (std::size_t i = 0; i < rows.size(); ++i)
        BOOST_TEST(holds(folder.output(i), rows[i].second), folder.output(i));
      std::size_t opened = 0;
      for (const Json& record : folder.records("network.connection")) {
        BOOST_TEST(record["allowed"].boolean());
        BOOST_TEST(record.string_at("host") == "127.0.0.2");
        BOOST_TEST(record.string_at("address") == "127.0.0.2");
        BOOST_TEST(record.string_at("rule") == server.place());
        opened += record.string_at("state") == "opened" ? 1u : 0u;
      }
      BOOST_TEST(opened >= rows.size());
      const Json result = folder.result();
      BOOST_TEST(result["counts"].integer_at("connections") == static_cast<int>(opened));
      BOOST_TEST(result["counts"].integer_at("denied_connections") == 0);
      BOOST_TEST(result["guarantees"]["network"]["proved"].boolean());
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_else_is_reached) {
  const PackageServer server;
  const std::string direct =
      "import socket\n"
      "def tried(kind, host, port):\n"
      "  s = socket.socket(socket.AF_INET, kind); s.settimeout(3)\n"
      "  try:\n"
      "    s.connect((host, port)); s.send(b'x')\n"
      "    if kind == socket.SOCK_DGRAM: s.recv(1)\n"
      "    return 'REACHED'\n"
      "  except OSError as e: return 'refused'\n"
      "print(*[tried(*t) for t in ((socket.SOCK_STREAM, '1.1.1.1', 443),\n"
      "  (socket.SOCK_STREAM, '127.0.0.2', " +
      server.port() +
      "),\n  (socket.SOCK_DGRAM, '1.1.1.1', 53), (socket.SOCK_DGRAM, '127.0.0.53', 53))])\n"
      "try: print(socket.getaddrinfo('example.org', 443))\n"
      "except OSError: print('no names')\n"
      "for host in ('127.0.0.1', '0.0.0.0'):\n"
      "  s = socket.socket()\n"
      "  for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):\n"
      "    s.setsockopt(socket.SOL_SOCKET, option, 1)\n"
      "  try: s.bind((host, 3128)); s.listen(); print('TAKEN')\n"
      "  except OSError: print('port kept')\n";
  const auto ask = [](const std::string& lines) {
    return "exec 3<>/dev/tcp/127.0.0.1/3128; printf '" + lines + "\\r\\n\\r\\n' >&3; cat <&3";
  };
  const CassetteWriter cassette =
      CassetteWriter()
          .shell({"/usr/bin/python3", "-c", direct})
          .next()
          .shell({"bash", "-c", ask("CONNECT unlisted.example:443 HTTP/1.1")})
          .next()
          .shell({"bash", "-c", ask("GET http://unlisted.example/ HTTP/1.1\\r\\nHost: x")})
          .next()
          .shell({"bash", "-c", ask("CONNECT 169.254.169.254:80 HTTP/1.1")})
          .next()
          .message("done");
  for (const Caller& caller : callers_with_namespaces()) {
    for (const std::string& allow : {"'" + server.place() + "'", std::string()}) {
      BOOST_TEST_CONTEXT(caller.name << ", allow: [" << allow << "]") {
        const RunFolder folder;
        prepare(folder, server, allow, cassette);
        const ProgramEnd end = folder.run_as(caller);
        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(folder.output(0) ==
                   "refused refused refused refused\nno names\nport kept\nport kept\n");
        for (std::size_t call = 1; call <= 3; ++call)
          BOOST_TEST(folder.output(call).starts_with("HTTP/1.1 403 "), folder.output(call));
        BOOST_TEST(holds(folder.output(1), "an entry \"unlisted.example:443\" there would allow"));
        const auto records = folder.records("network.connection");
        BOOST_REQUIRE(records.size() == 3u);
        for (const Json& record : records) {
          BOOST_TEST(record.string_at("state") == "denied");
          BOOST_TEST(!record["allowed"].boolean(true));
          BOOST_TEST(record.string_at("reason") != "");
        }
        BOOST_TEST(records[0].string_at("host") == "unlisted.example");
        BOOST_TEST(records[1].string_at("method") == "GET");
        const Json result = folder.result();
        BOOST_TEST(result["counts"].integer_at("denied_connections") == 3);
        std::string lines;
        for (const Json& one : result["network_denials"].items())
          lines += one.string_at("host") + " " + one.string_at("would_allow_yaml") + ";";
        BOOST_TEST(lines ==
                   "unlisted.example network: {allow: [\"unlisted.example:443\"]};unlisted.example "
                   "network: {allow: [\"unlisted.example:80\"]};169.254.169.254 ;");
        BOOST_TEST(holds(end.errors, "network: CONNECT unlisted.example:443 (denied: "),
                   end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_denied_host_is_told_everywhere_with_the_line_that_allows_it) {
  const std::string ask =
      "for i in 1 2 3; do exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT unlisted.example:443 "
      "HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3; done";
  const RunFolder folder;
  folder.write("net.yaml", "version: 1\nextends: [auto]\nnetwork: {mode: allow-list}\n");
  folder.write_task(CassetteWriter()
                        .shell({"bash", "-c", ask})
                        .next()
                        .message("It can't be reached.")
                        .message("It can't be reached."),
                    "policy: net.yaml\nverify: {rounds: 0, commands: ['false']}\n");
  ProgramStart start = folder.plain_start();
  start.environment["GITHUB_ACTIONS"] = "true";

  const ProgramEnd end = run_program(start);

  const std::string line = "network: {allow: [\"unlisted.example:443\"]}";
  const Json result = folder.result();
  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(holds(result.string_at("reason"),
                   "no file was changed, and a connection to 'unlisted.example:443' was denied 3 "
                   "times ("),
             result.string_at("reason"));
  BOOST_TEST(result.string_at("next") ==
             "to allow a connection to 'unlisted.example:443', put into "
             "net.yaml: " +
                 line);
  BOOST_TEST(holds(end.errors,
                   "\n::warning title=sortie%3A denied::a connection to "
                   "'unlisted.example:443' was denied 3 times: "),
             end.errors);
  BOOST_TEST(holds(folder.artifact("summary.md"), "```yaml\n" + line + "\n```"));
  const auto said = [&](std::vector<std::string> words) {
    ProgramStart other;
    other.argv = {sortie_binary()};
    other.argv.insert(other.argv.end(), words.begin(), words.end());
    return run_program(other).output;
  };
  const std::string out = folder.out().string();
  BOOST_TEST(
      holds(said({"show", out}), "denied: 3 connections\n  3 x network unlisted.example:443: "));
  BOOST_TEST(holds(said({"show", out}), "      " + line + "\n"));
  BOOST_TEST(holds(said({"policy", "learn", out}),
                   "network:\n  mode: allow-list\n  allow:\n    - \"unlisted.example:443\"  # 3 "
                   "connections in 1 run\n"));
  BOOST_TEST(holds(said({"verify", out}), "all fit"));
}

BOOST_AUTO_TEST_CASE(a_companys_proxy_ahead_is_gone_through_with_credentials_no_command_sees) {
  if (!has("/usr/bin/curl")) return;
  const ConnectProxy company("Basic Y2k6c2VjcmV0LXdvcmQ=");  // ci:secret-word
  const LoopbackHttp server([](const ReceivedRequest&) {
    return ServedResponse{.bytes =
                              "HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\nhello from inside"};
  });
  const std::string place = "inside.example:" + std::to_string(server.port());
  const RunFolder folder;
  folder.write(
      "net.yaml",
      "version: 1\nextends: [auto]\nnetwork:\n  mode: allow-list\n  allow: ['" + place + "']\n");
  folder.write_task(CassetteWriter()
                        .shell({"bash", "-c", "curl -sS -p http://" + place + "/x; env; set"})
                        .shell({"curl", "-sS", "-p", "http://other.example:80/"})
                        .next()
                        .message("done"),
                    "policy: net.yaml\nexpect: {changes: any}\n");
  ProgramStart start = folder.start();
  for (const char* name : {"HTTPS_PROXY", "HTTP_PROXY"})
    start.environment[name] = "http://ci:secret-word@127.0.0.1:" + std::to_string(company.port());

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.output(0), "hello from inside"), folder.output(0));
  BOOST_TEST(holds(folder.output(1), "403"), folder.output(1));
  BOOST_REQUIRE(company.requests().size() == 1u);
  BOOST_TEST(company.requests()[0].starts_with("CONNECT " + place + " "));
  for (const std::string& text :
       {folder.output(0), folder.output(1), end.printed(), folder.artifact("transcript.jsonl")}) {
    BOOST_TEST(!holds(text, "secret-word"), text);
    BOOST_TEST(!holds(text, "Y2k6c2VjcmV0"), text);
  }
}

BOOST_AUTO_TEST_CASE(a_proxy_ahead_of_another_kind_is_refused_loudly) {
  const RunFolder folder;
  folder.write("net.yaml",
               "version: 1\nextends: [auto]\nnetwork:\n  mode: allow-list\n  allow: "
               "[packages.example.com]\n");
  folder.write_task(CassetteWriter().message("done"), "policy: net.yaml\n");
  ProgramStart start = folder.start();
  start.environment["HTTPS_PROXY"] = "socks5://user:hunter2@proxy.example:1080";
  const ProgramEnd end = run_program(start);
  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(holds(end.errors, "only proxies with an http:// address"), end.errors);
  BOOST_TEST(holds(end.errors, "name 'packages.example.com' in NO_PROXY"), end.errors);
  BOOST_TEST(!holds(end.errors, "hunter2"));
}

BOOST_AUTO_TEST_SUITE_END()
