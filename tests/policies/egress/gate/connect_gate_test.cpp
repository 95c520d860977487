#include "policies/egress/gate/connect_gate.h"

#include <map>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "tests/policies/egress/gate/gated.h"

namespace sortie::test {
namespace {

/// A keeper whose commands connect through a gate to an echo.
struct Gated {
  explicit Gated(const Sandboxed& here)
      : keeper(here.profile),
        gate(keeper.take_connect_gate(),
             {.commands = {kProxyPort, here.profile.uid, here.profile.gid},
              .adopt = [this](Fd connection) { echo.adopt(std::move(connection)); },
              .report = [this](const EgressConnection& one) { reports.add(one); }}) {}

  Keeper keeper;
  Echo echo;
  Reports reports;
  ConnectGate gate;
};

Command attempt(const Sandboxed& here, const HostListener& host, const std::string& name) {
  Command command = here.shell("");
  command.argv = {attempts_program(), name, std::to_string(kProxyPort),
                  std::to_string(host.tcp_port()), std::to_string(host.udp_port())};
  return command;
}

using Outcomes = std::map<std::string, std::string>;

const Outcomes kExpected = {
    {"proxy", "ok"},
    {"proxy_ipv6", "ok"},
    {"proxy_mapped", "ok"},
    {"direct", "ECONNREFUSED"},
    {"direct_elsewhere", "ECONNREFUSED"},
    {"direct_any", "ECONNREFUSED"},
    {"direct_mapped", "ECONNREFUSED"},
    {"direct_ipv6", "ECONNREFUSED"},
    {"far", "ENETUNREACH"},
    {"far_ipv6", "ENETUNREACH"},
    {"far_on_proxy_port", "ENETUNREACH"},
    {"length_0", "EINVAL"},
    {"length_1", "EINVAL"},
    {"length_8", "EINVAL"},
    {"length_128", "ok"},
    {"length_129", "EINVAL"},
    {"length_negative", "EINVAL"},
    {"length_high_bits", "ok"},
    {"null_address", "EFAULT"},
    {"kernel_address", "EFAULT"},
    {"page_end", "ok"},
    {"past_page_end", "EFAULT"},
    {"family_unspecified", "EAFNOSUPPORT"},
    {"family_unix", "EAFNOSUPPORT"},
    {"ipv4_on_ipv6", "EINVAL"},
    {"ipv6_on_ipv4", "EAFNOSUPPORT"},
    {"no_descriptor", "EBADF"},
    {"negative_descriptor", "EBADF"},
    {"no_socket", "ENOTSOCK"},
    {"pair_end", "EISCONN"},
    {"high_bits", "ok"},
    {"non_blocking", "ok"},
    {"keeps_no_flags", "ok"},
    {"addresses", "ok"},
    {"addresses_ipv6", "ok"},
    {"twice", "ok"},
    {"after_a_refusal", "ok"},
    {"tcp", "ok"},
    {"tcp_by_number", "ok"},
    {"udp", "EPERM"},
    {"udp_ipv6", "EPERM"},
    {"raw", "EPROTONOSUPPORT"},
    {"ping", "EPROTONOSUPPORT"},
    {"sequenced", "EPROTONOSUPPORT"},
    {"sctp", "EPROTONOSUPPORT"},
    {"mptcp", "EPROTONOSUPPORT"},
    {"low_protocol", "EPROTONOSUPPORT"},
    {"type_high_bits", "EPERM"},
    {"family_high_bits", "EAFNOSUPPORT"},
    {"protocol_high_bits", "EPROTONOSUPPORT"},
    {"unix", "EPERM"},
    {"netlink", "EAFNOSUPPORT"},
    {"vsock", "EAFNOSUPPORT"},
    {"stream_pair", "ok"},
    {"packet_pair", "ok"},
    {"datagram_pair", "EPERM"},
    {"raw_pair", "EPERM"},
    {"send_to", "EPERM"},
    {"fast_open_send_to", "EPERM"},
    {"fast_open_message", "EPERM"},
    {"fast_open_messages", "EPERM"},
    {"message_to", "EPIPE"},
    {"fast_open_connect", "ECONNREFUSED"},
    {"bind", "EPERM"},
    {"listen", "EPERM"},
    {"accept", "EPERM"},
    {"inherited", "none"},
    {"race_of_addresses", "ok"},
    {"race_of_descriptors", "ok"},
    {"many_in_parallel", "ok"},
    {"in_parallel", "ok"},
    {"under_signals", "ok"},
    {"daemon", "ok"},
    {"daemon_direct", "ECONNREFUSED"},
    {"own_filter", "ECONNREFUSED"},
    {"own_notification", "ENOSYS"},
    {"own_listener", "EBUSY"},
};

Outcomes outcomes_in(const std::string& output) {
  Outcomes outcomes;
  std::istringstream lines(output);
  for (std::string name, outcome; lines >> name && std::getline(lines >> std::ws, outcome);)
    outcomes[name] = outcome;
  return outcomes;
}

std::string differences(const Outcomes& expected, const Outcomes& found) {
  std::string text;
  for (const auto& [name, outcome] : expected) {
    const auto one = found.find(name);
    if (one == found.end() || one->second != outcome)
      text +=
          name + ": " + (one == found.end() ? "nothing" : one->second) + ", not " + outcome + '\n';
  }
  return text;
}

/// A root that may trace everything reads the memory of undumpable programs too.
Outcomes expected_for(const GateWay& way) {
  Outcomes expected = kExpected;
  expected["undumpable"] = way.uid == 0 && way.may_trace ? "ok" : "EPERM";
  return expected;
}

BOOST_AUTO_TEST_SUITE(connect_gate)

BOOST_AUTO_TEST_CASE(what_a_program_tries_leads_to_the_proxy_or_nowhere) {
  for (const GateWay& way : gate_ways()) {
    const std::string wrong = gated(way, [&](Sandboxed& here) {
      const HostListener host;
      Gated with(here);
      const Ran ran = run(with.keeper, attempt(here, host, "all"));
      std::string text = differences(expected_for(way), outcomes_in(ran.output));
      if (!ran.status.success()) text += said(ran) + '\n';
      return text + host.caught();
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(a_denied_connection_is_reported_with_what_it_asked_for) {
  for (const GateWay& way : gate_ways()) {
    const std::string wrong = gated(way, [&](Sandboxed& here) -> std::string {
      const HostListener host;
      Gated with(here);
      run(with.keeper, attempt(here, host, "far_ipv6"));
      run(with.keeper, attempt(here, host, "proxy"));
      run(with.keeper, attempt(here, host, "family_unspecified"));
      run(with.keeper, attempt(here, host, "direct"));
      const auto reports = with.reports.wait_for(2);
      std::string text;
      for (const auto& one : reports)
        text += one.method + ' ' + one.host + ' ' + std::to_string(one.port) + '\n';
      const std::string expected =
          "connect 2001:db8::1 443\nconnect 127.0.0.1 " + std::to_string(host.tcp_port()) + "\n";
      if (text != expected) return text;
      return reports.front().reason.find("http://127.0.0.1:3128") == std::string::npos
                 ? reports.front().reason
                 : "";
    });
    BOOST_TEST(wrong == "", way.name << ":\n" << wrong);
  }
}

BOOST_AUTO_TEST_CASE(commands_that_run_at_once_are_all_served) {
  const std::string wrong = gated(gate_ways().back(), [&](Sandboxed& here) {
    const HostListener host;
    Gated with(here);
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::string text;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const Ran ran = run(with.keeper, attempt(here, host, "in_parallel"));
        const std::lock_guard lock(mutex);
        if (ran.output != "in_parallel ok\n") text += said(ran) + '\n';
      });
    }
    for (auto& thread : threads) thread.join();
    if (with.echo.connections() != 160) text += std::to_string(with.echo.connections());
    return text;
  });
  BOOST_TEST(wrong == "", wrong);
}

// Such a command tries as fast as it can; the others must not notice more than that.
BOOST_AUTO_TEST_CASE(a_command_that_only_tries_hinders_no_other_and_fills_no_record) {
  const std::string wrong = gated(gate_ways().back(), [&](Sandboxed& here) {
    const HostListener host;
    Reports reports;
    std::string text;
    {
      Keeper keeper(here.profile);
      Echo echo;
      const ConnectGate gate(keeper.take_connect_gate(),
                             {.commands = {kProxyPort, here.profile.uid, here.profile.gid},
                              .adopt = [&](Fd connection) { echo.adopt(std::move(connection)); },
                              .report = [&](const EgressConnection& one) { reports.add(one); }});
      Command endless = here.shell("while :; do : < /dev/tcp/127.0.0.1/9; done 2>/dev/null");
      endless.argv.front() = "bash";
      const auto running = keeper.launcher().start(endless);
      while (reports.all().size() < 1000) ::poll(nullptr, 0, 1);
      const Ran ran = run(keeper, attempt(here, host, "in_parallel"));
      if (ran.output != "in_parallel ok\n") text += said(ran) + '\n';
      running->end(Ending::cancelled);
    }
    const auto all = reports.all();
    if (all.size() > 1001) text += std::to_string(all.size()) + " reports\n";
    if (all.back().reason.find("further attempts were denied") == std::string::npos)
      text += all.back().reason + '\n';
    return text;
  });
  BOOST_TEST(wrong == "", wrong);
}

BOOST_AUTO_TEST_CASE(a_gate_that_is_gone_answers_nothing_and_holds_up_nobody) {
  const std::string wrong = gated(gate_ways().front(), [&](Sandboxed& here) -> std::string {
    const HostListener host;
    Echo echo;
    Keeper keeper(here.profile);
    auto gate = std::make_unique<ConnectGate>(
        keeper.take_connect_gate(),
        ConnectGate::Parts{.commands = {kProxyPort, here.profile.uid, here.profile.gid},
                           .adopt = [&](Fd connection) { echo.adopt(std::move(connection)); },
                           .report = [](const EgressConnection&) {}});
    // The command has its listener when it has connected once; then the gate goes.
    Command command = here.shell(
        "exec 3<>/dev/tcp/127.0.0.1/3128; echo on; read -r go <&3; "
        ": < /dev/tcp/127.0.0.1/3128");
    command.argv.front() = "bash";
    const auto running = keeper.launcher().start(command);
    while (echo.connections() == 0) ::poll(nullptr, 0, 1);
    gate.reset();
    std::string output;
    pollfd polls[] = {{running->ended_descriptor(), POLLIN, 0}};
    echo.end();
    ::poll(polls, 1, 20'000);
    const auto status = running->status();
    if (!status) return "it hangs";
    char buffer[512];
    const ssize_t count = ::read(running->output().get(), buffer, sizeof buffer);
    output.assign(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
    return output.find("Function not implemented") == std::string::npos ? output : "";
  });
  BOOST_TEST(wrong == "", wrong);
}

BOOST_AUTO_TEST_CASE(the_probe_says_what_is_to_be_had) {
  for (const GateWay& way : gate_ways()) {
    const std::string wrong = gated(way, [&](Sandboxed&) {
      const std::string problem = probe_connect_gate(way.commands, way.commands);
      return problem.empty() ? "" : problem + '\n';
    });
    BOOST_TEST(wrong == "", way.name << ": " << wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
