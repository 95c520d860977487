#include "core/git/config/git_place.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/files.h"
#include "core/git/git_info.h"
#include "core/git/git_repository.h"
#include "core/git/git_tree.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// A foreign repository with a secret commit, beside the folder that is worked in.
struct Neighbours {
  TemporaryFolder folder{};
  fs::path root = fs::canonical(folder.path());
  fs::path foreign = root / "foreign";
  fs::path own = root / "own";

  Neighbours() {
    for (const auto& path : {foreign, own}) {
      fs::create_directories(path);
      make_repository(path);
      write_file(path / "a.txt", path.filename().string() + "\n");
      commit_all(path);
    }
  }
  ~Neighbours() { let_git_read({}); }

  void point_git_to(const fs::path& target) const {
    fs::remove_all(own / ".git");
    write_file(own / ".git", "gitdir: " + target.string() + "\n");
  }
};

std::string head_in(const fs::path& folder) {
  const auto info = read_git_info(folder);
  return info ? info->head_commit : "(no git tree)";
}

std::string commit_of(const fs::path& folder) {
  return git(folder, {"rev-parse", "HEAD"}).substr(0, 40);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(git_place)

BOOST_AUTO_TEST_CASE(a_repository_that_leads_to_a_foreign_one_is_none) {
  using Change = std::function<void(const Neighbours&)>;
  const auto link = [](const fs::path& target, const fs::path& at) {
    fs::remove_all(at);
    fs::create_symlink(target, at);
  };
  const struct {
    const char* name;
    Change make;
  } rows[] = {
      {"a gitfile", [](const Neighbours& n) { n.point_git_to(n.foreign / ".git"); }},
      {"a gitfile to nothing", [](const Neighbours& n) { n.point_git_to(n.root / "none"); }},
      {"a link", [&](const Neighbours& n) { link(n.foreign / ".git", n.own / ".git"); }},
      {"commondir",
       [](const Neighbours& n) {
         write_file(n.own / ".git/commondir", (n.foreign / ".git").string() + "\n");
       }},
      {"objects",
       [&](const Neighbours& n) { link(n.foreign / ".git/objects", n.own / ".git/objects"); }},
      {"one folder of objects",
       [&](const Neighbours& n) { link(n.foreign / ".git/objects", n.own / ".git/objects/00"); }},
      {"a pack",
       [&](const Neighbours& n) { link(n.foreign / "a.txt", n.own / ".git/objects/pack/x.pack"); }},
      {"refs", [&](const Neighbours& n) { link(n.foreign / ".git/refs", n.own / ".git/refs"); }},
      {"a ref",
       [&](const Neighbours& n) {
         link(n.foreign / ".git/refs/heads/main", n.own / ".git/refs/heads/main");
       }},
      {"the index",
       [&](const Neighbours& n) { link(n.foreign / ".git/index", n.own / ".git/index"); }},
      {"HEAD", [&](const Neighbours& n) { link(n.foreign / ".git/HEAD", n.own / ".git/HEAD"); }},
      {"the configuration",
       [&](const Neighbours& n) { link(n.foreign / ".git/config", n.own / ".git/config"); }},
      {"alternates",
       [](const Neighbours& n) {
         write_file(n.own / ".git/objects/info/alternates",
                    (n.foreign / ".git/objects").string() + "\n");
       }},
      {"relative alternates",
       [](const Neighbours& n) {
         write_file(n.own / ".git/objects/info/alternates", "../../../foreign/.git/objects\n");
       }},
      {"alternates of alternates within",
       [](const Neighbours& n) {
         fs::create_directories(n.own / "more/info");
         write_file(n.own / ".git/objects/info/alternates", (n.own / "more").string() + "\n");
         write_file(n.own / "more/info/alternates", (n.foreign / ".git/objects").string() + "\n");
       }},
      {"a worktree's folder of its own making",
       [](const Neighbours& n) {
         const fs::path made = n.own / "worktrees/own";
         n.point_git_to(made);
         fs::create_directories(made);
         write_file(made / "HEAD", "ref: refs/heads/main\n");
         write_file(made / "gitdir", (n.own / ".git").string() + "\n");
         write_file(made / "commondir", (n.foreign / ".git").string() + "\n");
       }},
      {"another worktree's folder",
       [](const Neighbours& n) {
         git(n.foreign, {"worktree", "add", "-q", "../other", "-b", "other"});
         n.point_git_to(n.foreign / ".git/worktrees/other");
       }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Neighbours neighbours;
      BOOST_TEST(head_in(neighbours.own) == commit_of(neighbours.own));
      row.make(neighbours);
      BOOST_TEST(head_in(neighbours.own) == "(no git tree)");
      BOOST_TEST(why_git_is_refused(neighbours.own) != "");
      BOOST_TEST(tracked_dot_names(neighbours.own).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_with_a_pipe_or_device_that_would_be_opened_is_none) {
  const auto pipe = [](const fs::path& at) {
    fs::remove(at);
    fs::create_directories(at.parent_path());
    BOOST_REQUIRE(::mkfifo(at.c_str(), 0600) == 0);
  };
  const auto in_place_of = [&](const std::string& name) {
    return [=](const Neighbours& n) { pipe(n.own / ".git" / name); };
  };
  const auto link = [](const fs::path& target, const fs::path& at) {
    fs::remove_all(at);
    fs::create_symlink(target, at);
  };
  const struct {
    const char* name;
    std::function<void(const Neighbours&)> make;
  } rows[] = {
      {"the branch", in_place_of("refs/heads/main")},
      {"another ref", in_place_of("refs/remotes/origin/deep/one")},
      {"a ref of a name of its own", in_place_of("own/one")},
      {"a ref called as a hook", in_place_of("hooks/one")},
      {"HEAD", in_place_of("HEAD")},
      {"the index", in_place_of("index")},
      {"packed refs", in_place_of("packed-refs")},
      {"attributes", in_place_of("info/attributes")},
      {"a list of alternates", in_place_of("objects/info/alternates")},
      {"a commit graph", in_place_of("objects/info/commit-graph")},
      {"one of several commit graphs", in_place_of("objects/info/commit-graphs/graph-1.graph")},
      {"a pack's index", in_place_of("objects/pack/pack-1.idx")},
      {"a pack", in_place_of("objects/pack/pack-1.pack")},
      {"an index of packs", in_place_of("objects/pack/multi-pack-index")},
      {"a link to a pipe",
       [&](const Neighbours& n) {
         pipe(n.own / "pipe");
         link("../../../pipe", n.own / ".git/refs/heads/main");
       }},
      {"a pipe in a folder that is linked",
       [&](const Neighbours& n) {
         pipe(n.own / "heads/main");
         link("../../heads", n.own / ".git/refs/heads");
       }},
      {"pipes among linked objects",
       [&](const Neighbours& n) {
         fs::rename(n.own / ".git/objects", n.own / "objects");
         link("../objects", n.own / ".git/objects");
         pipe(n.own / "objects/pack/pack-1.idx");
       }},
      {"a pipe in place of a folder of objects",
       [&](const Neighbours& n) {
         fs::remove_all(n.own / ".git/objects/00");
         pipe(n.own / ".git/objects/00");
       }},
      {"an alternate's pack",
       [&](const Neighbours& n) {
         pipe(n.own / "more/pack/pack-1.idx");
         write_file(n.own / ".git/objects/info/alternates", (n.own / "more").string() + "\n");
       }},
      {"a link to a device",
       [&](const Neighbours& n) { link("/dev/zero", n.own / ".git/refs/heads/zero"); }},
      {"a link to a file of the kernel's",
       [&](const Neighbours& n) { link("/proc/self/status", n.own / ".git/refs/heads/status"); }},
      {"a folder of links that lead elsewhere",
       [&](const Neighbours& n) {
         fs::remove_all(n.own / ".git/refs/heads");
         fs::create_directories(n.own / "heads");
         link(n.foreign / ".git/refs/heads/main", n.own / "heads/main");
         link("../../heads", n.own / ".git/refs/heads");
       }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Neighbours n;
      fs::create_directories(n.own / ".git/objects/00");
      BOOST_TEST(why_git_is_refused(n.own) == "");
      row.make(n);
      BOOST_TEST(why_git_is_refused(n.own) != "");
      BOOST_TEST(head_in(n.own) == "(no git tree)");
    }
  }
}

BOOST_AUTO_TEST_CASE(links_that_go_in_circles_and_sockets_do_no_harm) {
  const Neighbours n;
  fs::create_symlink(".", n.own / ".git/refs/heads/self");
  fs::create_symlink("..", n.own / ".git/objects/info/up");
  fs::create_symlink("/no/such/folder", n.own / ".git/hooks/none");
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const fs::path before = fs::current_path();
  fs::current_path(n.own / ".git/info");  // a socket's name has a short limit
  std::strcpy(address.sun_path, "socket");
  const int bound =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  fs::current_path(before);
  BOOST_REQUIRE(bound == 0);
  BOOST_TEST(head_in(n.own) == commit_of(n.own));
}

BOOST_AUTO_TEST_CASE(a_rule_file_of_the_configuration_that_would_be_waited_for_is_refused) {
  const struct {
    const char* value;
    bool refused;
  } rows[] = {{"PIPE", true},        {"pipe", true},      {"link", true},
              {"LINKED/pipe", true}, {"/dev/zero", true}, {"/proc/self/status", true},
              {"%(prefix)", true},   {"~user", true},     {"/dev/null", false},
              {"rules", false},      {"none", false},     {"~/pipe", false}};
  for (const char* key : {"core.excludesFile", "core.attributesFile"}) {
    for (const bool included : {false, true}) {
      for (const auto& row : rows) {
        BOOST_TEST_CONTEXT(key << " " << row.value << (included ? ", included" : "")) {
          const Neighbours n;
          for (const char* name : {"pipe", "%(prefix)", "~user"})
            BOOST_REQUIRE(::mkfifo((n.own / name).c_str(), 0600) == 0);
          write_file(n.own / "rules", "*.tmp\n");
          fs::create_symlink("pipe", n.own / "link");
          fs::create_symlink(n.own, n.root / "linked");
          std::string value = row.value;
          if (value == "PIPE") value = (n.own / "pipe").string();
          if (value.starts_with("LINKED")) value = (n.root / "linked/pipe").string();
          const fs::path file = n.own / (included ? ".git/more" : ".git/config");
          git(n.own, {"config", "--file", file.string(), key, value});
          if (included) git(n.own, {"config", "include.path", "more"});
          if (row.refused)
            BOOST_CHECK_EXCEPTION(read_git_info(n.own), Error, [](const Error& error) {
              return error.code() == ExitCode::environment &&
                     std::string(error.what()).find("regular file") != std::string::npos;
            });
          else
            BOOST_TEST(head_in(n.own) == commit_of(n.own));
        }
      }
    }
  }
}

/// A worktree's name may make its own folder look like git's.
BOOST_AUTO_TEST_CASE(a_folder_called_worktrees_proves_nothing) {
  const Neighbours neighbours;
  const fs::path own = neighbours.foreign / "worktrees/own";
  fs::create_directories(own);
  write_file(own / ".git", "gitdir: .\n");
  write_file(own / "HEAD", "ref: refs/heads/main\n");
  write_file(own / "gitdir", (own / ".git").string() + "\n");
  write_file(own / "commondir", "../../.git\n");
  BOOST_TEST(head_in(own) == "(no git tree)");
  write_file(own / "commondir", "../..\n");
  BOOST_TEST(head_in(own) == "(no git tree)");
}

BOOST_AUTO_TEST_CASE(worktrees_and_submodules_that_point_back_are_read) {
  const Neighbours n;
  git(n.own, {"worktree", "add", "-q", "../linked", "-b", "linked"});
  git(n.own, {"-c", "protocol.file.allow=always", "submodule", "add", "-q", n.foreign.string(),
              "sub/module"});
  commit_all(n.own);
  for (const auto& folder : {n.root / "linked", n.own / "sub/module", n.own / "sub"})
    BOOST_TEST(head_in(folder) == commit_of(folder), folder.string());

  const GitPlace linked = find_git_place(n.root / "linked");
  BOOST_TEST(linked.git_dir == n.own / ".git/worktrees/linked");
  BOOST_TEST(linked.common_dir == n.own / ".git");
  BOOST_TEST(find_git_place(n.own / "sub/module").git_dir == n.own / ".git/modules/sub/module");
}

BOOST_AUTO_TEST_CASE(a_worktree_of_relative_paths_is_read) {
  const Neighbours n;
  git(n.own, {"worktree", "add", "-q", "../linked", "-b", "linked"});
  write_file(n.root / "linked/.git", "gitdir: ../own/.git/worktrees/linked\n");
  write_file(n.own / ".git/worktrees/linked/gitdir", "../../../../linked/.git\n");
  git(n.own, {"config", "core.repositoryformatversion", "1"});
  git(n.own, {"config", "extensions.relativeWorktrees", "true"});
  BOOST_TEST(head_in(n.root / "linked").size() == 40u);
}

BOOST_AUTO_TEST_CASE(alternates_are_followed_to_what_the_policy_lets_be_read) {
  const Neighbours n;
  git(n.root, {"clone", "-q", "--shared", n.foreign.string(), "shared"});
  BOOST_TEST(head_in(n.root / "shared") == "(no git tree)");
  let_git_read({n.foreign});
  BOOST_TEST(head_in(n.root / "shared") == commit_of(n.root / "shared"));
  const std::vector<fs::path> alternates = {n.foreign / ".git/objects"};
  BOOST_TEST((find_git_place(n.root / "shared").alternates == alternates));
}

BOOST_AUTO_TEST_CASE(
    alternates_are_followed_to_what_the_task_could_have_named_and_nothing_else_is) {
  const Neighbours n;
  git(n.root, {"clone", "-q", "--shared", n.foreign.string(), "shared"});
  fs::create_directories(n.root / "file");
  write_file(n.root / "file/.git", "gitdir: " + (n.foreign / ".git").string() + "\n");

  let_git_read({}, {n.root});

  BOOST_TEST(find_git_place(n.root / "shared").refused == "");
  BOOST_TEST(find_git_place(n.root / "shared").alternates.size() == 1u);
  BOOST_TEST(find_git_place(n.root / "file").refused != "");
}

BOOST_AUTO_TEST_CASE(a_repository_kept_apart_is_read_where_the_policy_lets_it) {
  const Neighbours n;
  fs::create_directories(n.root / "apart");
  git(n.root, {"init", "-q", "-b", "main", "--separate-git-dir", "kept.git", "apart"});
  BOOST_TEST(why_git_is_refused(n.root / "apart").find("paths.read") != std::string::npos);
  let_git_read({n.root / "kept.git"});
  BOOST_TEST(head_in(n.root / "apart") == "");
}

BOOST_AUTO_TEST_CASE(what_libgit2_can_not_read_is_no_git_tree_and_is_said) {
  const struct {
    const char* config;
    const char* why;
  } rows[] = {
      {"[extensions]\n\tobjectFormat = sha1\n", ""},
      {"[extensions]\n\tpreciousObjects = true\n", ""},
      {"[extensions]\n\trelativeWorktrees = true\n", ""},
      {"[extensions]\n\trefStorage = files\n", ""},
      {"[extensions]\n\tnoop = 1\n", ""},
      {"[extensions]\n\trefStorage = reftable\n", "references are stored as reftable"},
      {"[extensions]\n\tobjectFormat = sha256\n", "object ids are sha256"},
      {"[extensions]\n\tunheardOf = 1\n", "extension unheardof"},
      {"[core]\n\trepositoryformatversion = 2\n", "format is version 2"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.config) {
      const Neighbours n;
      const fs::path config = n.own / ".git/config";
      const std::string text = read_file(config, 1 << 20);
      write_file(config, text + "[core]\n\trepositoryformatversion = 1\n" + row.config);
      const std::string why = why_git_is_refused(n.own);
      BOOST_TEST(why.empty() == (*row.why == '\0'), why);
      BOOST_TEST(why.find(row.why) != std::string::npos, why);
      BOOST_TEST((head_in(n.own) == "(no git tree)") == (*row.why != '\0'));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_of_long_ids_is_no_git_tree) {
  const TemporaryFolder folder;
  git(folder.path(), {"init", "-q", "--object-format=sha256", "."});
  BOOST_TEST(head_in(fs::canonical(folder.path())) == "(no git tree)");
}

BOOST_AUTO_TEST_CASE(an_index_without_its_checksum_is_read) {
  const Neighbours n;
  const fs::path file = n.own / ".git/index";
  fs::copy_file(file, n.root / "whole");
  std::string index = read_file(file, 1 << 20);
  index.replace(index.size() - 20, 20, std::string(20, '\0'));
  write_file(file, index);

  const GitTreeState state = read_git_tree(n.own, 1);

  BOOST_REQUIRE(state.tracked.size() == 1u);
  BOOST_TEST(state.tracked[0].path == "a.txt");
  BOOST_TEST(state.staged.empty());
  BOOST_TEST(lists_same_entries(file, n.root / "whole"));
}

// For a start, in which many ask; afterwards the user may have made another one of it.
BOOST_AUTO_TEST_CASE(a_place_is_looked_for_once_as_long_as_it_is_kept) {
  const test::TemporaryFolder folder;
  const auto make = [&] { fs::create_directories(folder / "tree/.git/hooks"); };
  make();
  const fs::path tree = fs::canonical(folder / "tree");
  const auto is_found = [&] { return find_git_place(tree).toplevel == tree; };
  {
    const GitPlacesOnce once;
    BOOST_TEST(!is_found());
    test::make_repository(tree);
    {
      const GitPlacesOnce other;
      BOOST_TEST(!is_found());
    }
    BOOST_TEST(!is_found());
    let_git_read({});
    BOOST_TEST(is_found());
  }
  fs::remove_all(tree / ".git");
  BOOST_TEST(!is_found());
}

BOOST_AUTO_TEST_SUITE_END()
