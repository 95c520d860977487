// What people's programs make of the gate: through it and the proxy to a server with TLS.
#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "policies/egress/proxy.h"
#include "tests/policies/egress/gate/gated.h"
#include "tests/support/model_server.h"
#include "tests/support/test_authority.h"

namespace sortie::test {
namespace {

/// A program and a script for it. In the script: $URL is listed and served, $OTHER is not listed.
struct ProgramRow {
  const char* name;
  const char* program;
  const char* script;
  const char* expected;  ///< part of what it says
};

const ProgramRow kPrograms[] = {
    {"curl", "curl", "curl -sS -m 20 --cacert ca.pem $URL", "listed"},
    {"curl, unlisted", "curl", "curl -sS -m 20 --cacert ca.pem $OTHER", "403"},
    {"curl past the proxy", "curl", "curl -sS -m 20 --noproxy '*' --cacert ca.pem $URL",
     "Couldn't connect to server"},
    {"python", "python3",
     "SSL_CERT_FILE=ca.pem python3 -c 'import os, urllib.request as r; "
     "print(r.urlopen(os.environ[\"URL\"], timeout=20).read().decode())'",
     "listed"},
    {"python, unlisted", "python3",
     "SSL_CERT_FILE=ca.pem python3 -c 'import os, urllib.request as r; "
     "r.urlopen(os.environ[\"OTHER\"], timeout=20)'",
     "403"},
    {"python with asyncio", "python3",
     R"(python3 -c '
import asyncio, os, ssl
async def main():
    place = os.environ["URL"][8:].rstrip("/")
    reader, writer = await asyncio.open_connection("127.0.0.1", 3128)
    writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
    print((await reader.readuntil(b"\r\n\r\n")).decode())
    writer.close()
asyncio.run(main())')",
     " 200 "},
    {"node", "node",
     R"(node -e '
const http = require("http"), tls = require("tls"), fs = require("fs");
const place = process.env.URL.slice(8).replace("/", "");
http.request({host: "127.0.0.1", port: 3128, method: "CONNECT", path: place})
  .on("connect", (response, socket) => {
    const through = tls.connect({socket, ca: fs.readFileSync("ca.pem")}, () =>
      through.write("GET / HTTP/1.1\r\nHost: " + place + "\r\nConnection: close\r\n\r\n"));
    through.on("data", data => process.stdout.write(data));
    through.on("error", error => console.log(error));
  }).on("error", error => console.log(error)).end()')",
     "listed"},
    {"node past the proxy", "node",
     R"(node -e '
require("net").connect({host: "127.0.0.1", port: new URL(process.env.URL).port})
  .on("connect", () => console.log("got through")).on("error", error => console.log(error.code))')",
     "ECONNREFUSED"},
    {"java", "javac", "java -XX:TieredStopAtLevel=1 Get.java", "listed"},
    {"bash", "bash", "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'x\\r\\n\\r\\n' >&3; head -n1 <&3",
     " 400 "},
    {"git", "git", "git -c http.sslCAInfo=$PWD/ca.pem ls-remote $OTHER/x.git", "403"},
};

const char* const kGetInJava = R"(
import java.net.*;
public class Get {
  public static void main(String[] arguments) throws Exception {
    Proxy proxy = new Proxy(Proxy.Type.HTTP, new InetSocketAddress("127.0.0.1", 3128));
    URL url = new URL(System.getenv("PLAIN"));
    System.out.println(new String(url.openConnection(proxy).getInputStream().readAllBytes()));
  }
}
)";

bool is_installed(const char* program) {
  return std::system(("command -v " + std::string(program) + " > /dev/null").c_str()) == 0;
}

ServedResponse listed() {
  return {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nlisted",
          .then = ServedResponse::Then::close};
}

std::string try_program(const ProgramRow& row, Sandboxed& here) {
  Keeper keeper(here.profile);
  here.write("ws/Get.java", kGetInJava);
  const TestAuthority authority(here.workspace());
  ModelServer server({listed()}, authority.issue("server", "DNS:localhost,IP:127.0.0.1"));
  ModelServer plain({listed()});
  const auto place = [](int port) { return "127.0.0.1:" + std::to_string(port); };
  EgressProxy proxy({place(server.port()), place(plain.port())}, [](const EgressConnection&) {});
  const ConnectGate gate(keeper.take_connect_gate(),
                         {.commands = {kProxyPort, here.profile.uid, here.profile.gid},
                          .adopt = [&](Fd connection) { proxy.adopt(std::move(connection)); },
                          .report = [](const EgressConnection&) {}});
  Command command = here.shell(row.script);
  command.argv.front() = "bash";
  const std::string way_out = "http://127.0.0.1:" + std::to_string(kProxyPort);
  for (const char* name : {"HTTPS_PROXY", "https_proxy", "http_proxy"})
    command.environment[name] = way_out;
  command.environment["URL"] = server.url() + "/";
  command.environment["PLAIN"] = plain.url() + "/";
  command.environment["OTHER"] = "https://" + place(9);
  const Ran ran = run(keeper, command);
  return ran.output.find(row.expected) == std::string::npos ? said(ran) + '\n' : "";
}

BOOST_AUTO_TEST_SUITE(connect_gate_programs)

BOOST_AUTO_TEST_CASE(programs_get_through_the_gate_to_the_proxy_alone) {
  for (const ProgramRow& row : kPrograms) {
    if (!is_installed(row.program)) {
      BOOST_TEST_MESSAGE("skipped: no " << row.program);
      continue;
    }
    const std::string wrong =
        gated(gate_ways().back(), [&](Sandboxed& here) { return try_program(row, here); });
    BOOST_TEST(wrong == "", row.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
