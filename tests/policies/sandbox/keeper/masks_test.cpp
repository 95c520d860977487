// Masks whose files another program replaces while the run goes on: the kernel takes the mounts away.
#include <boost/test/unit_test.hpp>

#include "policies/sandbox/keeper/keeper.h"
#include "tests/policies/sandbox/keeper_fixture.h"

namespace sortie::test {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A folder of the machine that commands can read, with a file in it that they must not, and a tree
/// that commands work in as it is.
struct Shown : Sandboxed {
  Shown() {
    for (const char* folder : {"shown", "ws/.github"}) fs::create_directory(base / folder);
    write("shown/secret", "TREASURE\n");
    write("ws/.env", "TREASURE\n");
    write("ws/guide", "as it was\n");
    profile.readable = {base / "shown"};
    profile.hide = {(base / "shown/secret").string(), ".env"};
    profile.protect.push_back("guide");
    profile.mount = {};
    profile.mount.kind = MountPlan::Kind::bind;
    profile.mount.in_place = true;
    profile.mount.workspace = profile.mount.source = fs::canonical(base) / "ws";
    profile.mount.beside = base / "state";
  }

  std::string secret() const { return (base / "shown/secret").string(); }

  /// As editors and git write a file.
  void replace(const fs::path& path, const std::string& content) const {
    write(path.string() + ".new", content);
    fs::rename(base / (path.string() + ".new"), base / path);
  }
};

/// A command that waits until `go` is there, and then does something; with what it printed before it ended.
struct Waiting {
  Waiting(Keeper& keeper, const Shown& here, const std::string& act) {
    running = keeper.launcher().start(here.shell("echo begun; while :; do " + act + "; done"));
    while (!holds(output, "begun")) read_some();
  }

  void read_some() {
    pollfd wait{running->output().get(), POLLIN, 0};
    BOOST_REQUIRE(::poll(&wait, 1, 30'000) == 1);
    char part[4096];
    const ssize_t count = ::read(running->output().get(), part, sizeof part);
    BOOST_REQUIRE(count > 0);
    output.append(part, static_cast<std::size_t>(count));
  }

  /// How the command ended; "" for one that ended as any other.
  std::string failure() const {
    try {
      for (;;) {
        if (running->status()) return "";
        pollfd wait{running->ended_descriptor(), POLLIN, 0};
        if (::poll(&wait, 1, 30'000) != 1) return "it did not end";
      }
    } catch (const Error& error) {
      return error.code() == ExitCode::environment ? error.what() : "another code";
    }
  }

  std::unique_ptr<RunningCommand> running;
  std::string output;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(masks)

BOOST_AUTO_TEST_CASE(a_hidden_file_that_is_replaced_between_two_commands_stays_hidden) {
  const Shown here;
  Keeper keeper(here.profile);
  const std::string both = "cat " + here.secret() + " .env; echo x >> guide";
  const auto expect_closed = [&](const std::string& when) {
    const Ran ran = run(keeper, here.shell(both));
    BOOST_TEST(!holds(ran.output, "TREASURE"), when << ": " << ran.output);
    BOOST_TEST(!ran.status.success(), when);
    Command apart = here.shell(both);
    apart.private_set = "apart";
    const Ran other = run(keeper, apart);
    BOOST_TEST(!holds(other.output, "TREASURE"), when << ", in a private set: " << other.output);
  };
  expect_closed("at the start");
  for (const char* path : {"shown/secret", "ws/.env"}) here.replace(path, "TREASURE anew\n");
  here.replace("ws/guide", "edited outside\n");
  expect_closed("after it was replaced");
  BOOST_TEST(here.read("ws/guide") == "edited outside\n");
  // The mask goes with the renamed file, and nothing tells of the new one.
  for (const char* path : {"shown/secret", "ws/.env"}) {
    fs::rename(here.base / path, here.base / (std::string(path) + "~"));
    here.write(path, "TREASURE again\n");
  }
  expect_closed("after it was renamed and written again");
  for (const char* path : {"shown/secret", "ws/.env"}) {
    fs::remove(here.base / path);
    fs::create_directory(here.base / path);
    here.write(std::string(path) + "/inside", "TREASURE inside\n");
  }
  const Ran ran = run(keeper, here.shell("cat " + here.secret() + "/inside .env/inside"));
  BOOST_TEST(!holds(ran.output, "TREASURE"), "a folder in its place: " << ran.output);
}

BOOST_AUTO_TEST_CASE(a_command_that_runs_while_a_mask_falls_is_ended_and_its_output_withheld) {
  const struct {
    std::string path;
    std::string words;
  } cases[] = {{"shown/secret", "hid it from the command"},
               {"ws/.env", "hid it from the command"},
               {"ws/guide", "kept the command from changing it"}};
  for (const auto& one : cases) {
    const Shown here;
    Keeper keeper(here.profile);
    const Waiting waiting(keeper, here, "cat " + here.secret() + " .env 2>/dev/null");
    here.replace(one.path, "TREASURE anew\n");
    const std::string failure = waiting.failure();
    BOOST_TEST(holds(failure, (here.base / one.path).string() + " was replaced"), failure);
    BOOST_TEST(holds(failure, one.words), failure);
    BOOST_TEST(holds(failure, "its output is withheld"), failure);
    // The next command finds all masks.
    const Ran ran = run(keeper, here.shell("cat " + here.secret() + " .env; echo x >> guide"));
    BOOST_TEST(!holds(ran.output, "TREASURE"), ran.output);
    BOOST_TEST(!ran.status.success());
    BOOST_TEST(keeper.shut_down());
  }
}

BOOST_AUTO_TEST_CASE(a_link_in_the_place_of_a_hidden_file_ends_all_commands) {
  const Shown here;
  Keeper keeper(here.profile);
  here.write("shown/elsewhere", "TREASURE\n");
  fs::remove(here.base / "shown/secret");
  fs::create_symlink("elsewhere", here.base / "shown/secret");
  std::string failure;
  try {
    (void)run(keeper, here.shell("true"));
  } catch (const Error& error) {
    failure = error.what();
  }
  BOOST_TEST(holds(failure, "was replaced by a link"), failure);
}

BOOST_AUTO_TEST_CASE(mounts_that_come_and_go_end_no_command) {
  const Shown here;
  Keeper keeper(here.profile);
  const Waiting waiting(keeper, here, "sleep 0.01");
  // A set has mounts of its own; other files are no concern of the masks.
  Command apart = here.shell("true");
  apart.private_set_alone = true;
  BOOST_TEST(run(keeper, apart).status.success());
  here.replace("ws/file.txt", "changed\n");
  BOOST_TEST(run(keeper, here.shell("true")).status.success());
  BOOST_TEST(!waiting.running->status().has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace sortie::test
