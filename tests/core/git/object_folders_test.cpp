#include "core/git/object_folders.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/git_info.h"
#include "core/git/git_repository.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

struct Committed {
  TemporaryFolder folder{};
  fs::path root = fs::canonical(folder.path()) / "own";
  fs::path lender = root / "lender";

  Committed() {
    fs::create_directories(root);
    make_repository(root);
    write_file(root / "a.txt", "a\n");
    commit_all(root);
  }
  /// The file of HEAD's commit, or of its tree ("HEAD^{tree}").
  fs::path object(const char* name = "HEAD") const {
    const std::string id = git(root, {"rev-parse", name});
    return root / ".git/objects" / id.substr(0, 2) / id.substr(2, 38);
  }
};

bool can_read_head(const fs::path& folder) {
  try {
    return static_cast<bool>(head_tree(*find_repository(folder).handle));
  } catch (const Error& error) {
    BOOST_TEST((error.code() == ExitCode::environment));
    return false;
  }
}

void put_pipe(const fs::path& at) {
  fs::remove(at);
  BOOST_REQUIRE(::mkfifo(at.c_str(), 0600) == 0);
}

void put_link(const fs::path& target, const fs::path& at) {
  fs::remove(at);
  fs::create_symlink(target, at);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(object_folders)

BOOST_AUTO_TEST_CASE(an_object_that_would_be_waited_for_is_missing) {
  const struct {
    const char* name;
    std::function<void(const Committed& one, const fs::path& object)> make;
    bool read;
  } rows[] = {
      {"a pipe", [](const Committed&, const fs::path& object) { put_pipe(object); }, false},
      {"a folder",
       [](const Committed&, const fs::path& object) {
         fs::remove(object);
         fs::create_directory(object);
       },
       false},
      {"a link to a pipe",
       [](const Committed& one, const fs::path& object) {
         put_pipe(one.root / "pipe");
         put_link(one.root / "pipe", object);
       },
       false},
      {"a link to a device",
       [](const Committed&, const fs::path& object) { put_link("/dev/zero", object); }, false},
      {"a link to a file of the kernel's",
       [](const Committed&, const fs::path& object) { put_link("/proc/self/status", object); },
       false},
      {"a link to the object",
       [](const Committed& one, const fs::path& object) {
         fs::rename(object, one.root / "object");
         put_link(one.root / "object", object);
       },
       true},
      {"a lender's pipe",
       [](const Committed& one, const fs::path& object) {
         fs::rename(one.root / ".git/objects", one.lender);
         fs::create_directories(one.root / ".git/objects/info");
         write_file(one.root / ".git/objects/info/alternates", one.lender.string() + "\n");
         put_pipe(one.lender / object.parent_path().filename() / object.filename());
       },
       false},
      {"a lender's object",
       [](const Committed& one, const fs::path&) {
         fs::rename(one.root / ".git/objects", one.lender);
         fs::create_directories(one.root / ".git/objects/info");
         write_file(one.root / ".git/objects/info/alternates", one.lender.string() + "\n");
       },
       true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Committed one;
      const fs::path object = one.object("HEAD^{tree}");
      BOOST_TEST(can_read_head(one.root));

      row.make(one, object);

      BOOST_TEST(why_git_is_refused(one.root) == "");
      BOOST_TEST(can_read_head(one.root) == row.read);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_whose_head_would_be_waited_for_is_none) {
  const Committed one;
  put_pipe(one.object());

  BOOST_TEST(why_git_is_refused(one.root).find("git would block on it") != std::string::npos);
  BOOST_TEST(!read_git_info(one.root));
}

BOOST_AUTO_TEST_CASE(packed_objects_and_short_ids_are_read) {
  const Committed one;
  const std::string id = git(one.root, {"rev-parse", "HEAD"}).substr(0, 40);
  const auto can_read = [&] {
    const FoundRepository found = find_repository(one.root);
    GitObject object;
    return git_revparse_single(GitOut(object), found.handle.get(), id.substr(0, 8).c_str()) == 0;
  };
  BOOST_TEST(can_read());

  git(one.root, {"gc", "-q"});

  BOOST_TEST(!fs::exists(one.object()));
  BOOST_TEST(can_read_head(one.root));
  BOOST_TEST(can_read());
}

BOOST_AUTO_TEST_SUITE_END()
