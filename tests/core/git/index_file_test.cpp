#include "core/git/index_file.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "core/git/read_index.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

struct Repository {
  TemporaryFolder folder{};
  fs::path root = fs::canonical(folder.path());
  fs::path index = root / ".git/index";

  Repository() {
    make_repository(root);
    for (const char* name : {"a", "a-b", "a/b/c", "a.c", "z", "\xC3\xA4"})
      add_file(root / "files" / name / "f", name);
    add_file(root / std::string(200, 'd') / std::string(200, 'e') / "f", "long");
    for (int i = 0; i < 20; ++i) path_ += "/" + std::string(230, 'p');
    commit_all(root);
  }
  /// An entry with a path of more than 4095 bytes, which no file can have.
  void add_longest() const {
    const std::string id = git(root, {"rev-parse", ":files/a/f"}).substr(0, 40);
    git(root, {"update-index", "--add", "--cacheinfo", "100644," + id + ",l" + path_});
  }

 private:
  static void add_file(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    write_file(path, text);
  }

  std::string path_{};
};

std::string text_of(const IndexEntry& entry) {
  std::string text(entry.path);
  for (const std::uint32_t number :
       {entry.mode, entry.size, entry.inode, entry.modified_s, entry.modified_ns, entry.changed_s,
        entry.changed_ns, entry.stage})
    text += ' ' + std::to_string(number);
  for (const bool one : {entry.assume_unchanged, entry.skip_worktree, entry.intent_to_add})
    text += one ? " 1" : " 0";
  return text + ' ' + std::string(entry.id.begin(), entry.id.end());
}

std::vector<std::string> texts_of(const IndexFile& index) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < index.size(); ++i) texts.push_back(text_of(index.entry(i)));
  return texts;
}

std::vector<std::string> by_libgit2(const fs::path& file) {
  start_libgit2();
  GitIndex index;
  BOOST_REQUIRE(open_index_file(index, file));
  return texts_of(index_of(*index));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(index_file)

BOOST_AUTO_TEST_CASE(entries_are_as_libgit2_reads_them) {
  const struct {
    const char* name;
    std::function<void(const Repository&)> make;
  } rows[] = {
      {"as committed", [](const Repository&) {}},
      {"a path of more than 4095 bytes", [](const Repository& one) { one.add_longest(); }},
      {"flags",
       [](const Repository& one) {
         write_file(one.root / "new", "new");
         git(one.root, {"add", "-N", "new"});
         git(one.root, {"update-index", "--skip-worktree", "files/a/f"});
         git(one.root, {"update-index", "--assume-unchanged", "files/z/f"});
       }},
      {"no checksum",
       [](const Repository& one) {
         git(one.root, {"config", "index.skipHash", "true"});
         one.add_longest();
       }},
      {"a conflict",
       [](const Repository& one) {
         const std::string id = git(one.root, {"rev-parse", ":files/a/f"}).substr(0, 40);
         write_file(one.root / "stages", "100644 " + id + " 1\tc\n100644 " + id + " 3\tc\n");
         git(one.root, {"read-tree", "--empty"});
         BOOST_REQUIRE(
             std::system(("cd " + one.root.string() + " && git update-index --index-info < stages")
                             .c_str()) == 0);
       }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Repository one;
      row.make(one);

      const auto index = IndexFile::open(one.index);

      BOOST_REQUIRE(index.has_value());
      BOOST_TEST(texts_of(*index) == by_libgit2(one.index));
      for (std::size_t i = 0; i < index->size(); ++i) {
        const auto found = index->find(index->path(i));
        BOOST_TEST(found.has_value() == (index->entry(i).stage == 0));
        if (found) BOOST_TEST(text_of(*found) == text_of(index->entry(i)));
      }
      BOOST_TEST(!index->find("files"));
      BOOST_TEST(!index->find("zz"));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_tree_is_known_until_something_is_staged) {
  const Repository one;
  const auto tree = [&]() -> std::string {
    const auto index = IndexFile::open(one.index);
    if (!index || !index->tree()) return "unknown\n";
    git_oid id;
    std::copy(index->tree()->begin(), index->tree()->end(), id.id);
    return id_text(id) + "\n";
  };
  const std::string head = git(one.root, {"rev-parse", "HEAD^{tree}"});
  BOOST_TEST(tree() == head);

  write_file(one.root / "files/a/f", "other");
  git(one.root, {"add", "files"});
  BOOST_TEST(tree() == "unknown\n");
  git(one.root, {"reset", "-q", "--hard"});
  BOOST_TEST(tree() == head);
  write_file(one.root / "new", "");
  git(one.root, {"add", "-N", "new"});
  BOOST_TEST(tree() == "unknown\n");
}

BOOST_AUTO_TEST_CASE(what_can_not_be_read_in_place_is_left_to_libgit2) {
  const struct {
    const char* name;
    std::function<void(const Repository&)> make;
  } rows[] = {
      {"none", [](const Repository& one) { fs::remove(one.index); }},
      {"version 4",
       [](const Repository& one) {
         git(one.root, {"update-index", "--index-version", "4"});
       }},
      {"split",
       [](const Repository& one) {
         git(one.root, {"update-index", "--split-index"});
       }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Repository one;
      row.make(one);
      BOOST_TEST(!IndexFile::open(one.index));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_damage_is_read_beyond_the_end) {
  const Repository one;
  const std::string whole = read_file(one.index);
  std::string bare = whole;  // without a checksum, so that only the structure counts
  std::fill(bare.end() - 20, bare.end(), '\0');
  BOOST_REQUIRE(IndexFile::parse(whole).has_value());
  BOOST_REQUIRE(IndexFile::parse(bare).has_value());

  for (std::size_t size = 0; size < whole.size(); ++size) {
    BOOST_TEST(!IndexFile::parse(whole.substr(0, size)));
    (void)IndexFile::parse(bare.substr(0, size) + std::string(20, '\0'));
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(~damaged[i]);
    BOOST_TEST(!IndexFile::parse(damaged));
    damaged = bare;
    damaged[i] = static_cast<char>(~damaged[i]);
    if (const auto index = IndexFile::parse(damaged)) (void)texts_of(*index);
  }
}

BOOST_AUTO_TEST_CASE(what_is_read_once_stays_and_what_could_not_be_read_is_tried_again) {
  const Repository one;
  IndexOnce once;
  fs::rename(one.index, one.root / "aside");
  BOOST_TEST(once.open(one.index) == nullptr);
  fs::rename(one.root / "aside", one.index);
  std::vector<std::shared_ptr<const IndexFile>> found(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : found) threads.emplace_back([&] { mine = once.open(one.index); });
  }
  BOOST_REQUIRE(found.front() != nullptr);
  for (const auto& one_found : found) BOOST_TEST(one_found == found.front());
  fs::remove(one.index);
  BOOST_TEST(once.open(one.index) == found.front());
  BOOST_TEST(found.front()->find("files/a/f").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
