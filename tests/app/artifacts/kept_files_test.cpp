#include "app/artifacts/kept_files.h"

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "tests/fakes/memory_files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(kept_files)

BOOST_AUTO_TEST_CASE(files_are_kept_under_their_own_paths_and_what_is_gone_is_passed_over) {
  const test::TemporaryFolder out;
  MemoryFiles view;
  view.write("src/a.bin", "bytes", 0644);

  const KeptFiles kept = keep_files(out.path(), view, {"src/a.bin", "gone"}, Redactor());

  BOOST_TEST(read_file(out / "kept/src/a.bin") == "bytes");
  BOOST_REQUIRE_EQUAL(kept.digests.size(), 1u);
  BOOST_TEST(kept.digests.begin()->first == "src/a.bin");
  BOOST_TEST(kept.not_kept.empty());
}

BOOST_AUTO_TEST_CASE(a_file_with_a_secret_is_not_kept_and_that_is_told) {
  const test::TemporaryFolder out;
  MemoryFiles view;
  view.write("a.txt", "key = s3cr3t-value", 0644);
  const Redactor redactor(std::vector<Secret>{{"DB_PASSWORD", "s3cr3t-value"}});

  const KeptFiles kept = keep_files(out.path(), view, {"a.txt"}, redactor);

  BOOST_TEST(kept.digests.empty());
  BOOST_REQUIRE_EQUAL(kept.not_kept.size(), 1u);
  BOOST_TEST(kept.not_kept[0] == "a.txt: it holds a secret");
  BOOST_TEST(!std::filesystem::exists(out / "kept/a.txt"));
}

BOOST_AUTO_TEST_SUITE_END()
