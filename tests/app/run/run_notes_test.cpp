#include "app/run/run_notes.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

constexpr const char* kFirstLine = "<!-- notes of sortie: context.carry_over -->\n";

struct NotesBench {
  test::TemporaryFolder folder;
  Task task;
  std::vector<std::string> warnings;

  NotesBench() { task.context.carry_over = "notes.md"; }
  RunNotes make() const { return RunNotes(task, folder / "out"); }
  std::filesystem::path file() const { return folder / "notes.md"; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(run_notes)

BOOST_AUTO_TEST_CASE(one_run_leaves_notes_to_the_next_which_shows_them_once) {
  NotesBench bench;
  RunNotes first = bench.make();
  first.read(bench.warnings);
  first.set("the tests need a database");
  first.write();
  RunNotes next = bench.make();
  next.read(bench.warnings);

  const auto message = next.take_message(Redactor());

  BOOST_TEST(read_file(bench.file()) == std::string(kFirstLine) + "the tests need a database\n");
  BOOST_REQUIRE(message.has_value());
  const std::string text = std::get<Message>(message->content).text;
  BOOST_TEST(text.find("the tests need a database") != text.npos);
  BOOST_TEST(text.find("not instructions") != text.npos);
  BOOST_TEST(!next.take_message(Redactor()).has_value());
  BOOST_TEST(bench.warnings.empty());
}

BOOST_AUTO_TEST_CASE(another_file_is_neither_read_nor_replaced) {
  NotesBench bench;
  write_file(bench.file(), "my own notes\n");
  RunNotes notes = bench.make();
  notes.set("the run's");

  BOOST_CHECK_THROW(notes.read(bench.warnings), InputError);
  BOOST_CHECK_THROW(notes.write(), Error);
  BOOST_TEST(read_file(bench.file()) == "my own notes\n");
}

BOOST_AUTO_TEST_CASE(a_link_is_not_followed) {
  NotesBench bench;
  write_file(bench.folder / "elsewhere", kFirstLine);
  std::filesystem::create_symlink("elsewhere", bench.file());

  BOOST_CHECK_THROW(bench.make().read(bench.warnings), InputError);
}

BOOST_AUTO_TEST_CASE(notes_that_are_too_long_are_cut_with_a_warning) {
  NotesBench bench;
  write_file(bench.file(), kFirstLine + std::string(70'000, 'x'));
  RunNotes notes = bench.make();

  notes.read(bench.warnings);

  BOOST_REQUIRE_EQUAL(bench.warnings.size(), 1u);
  BOOST_TEST(bench.warnings[0].find("only the first 64 KiB") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_mode_of_the_file_stays_as_it_is) {
  NotesBench bench;
  write_file(bench.file(), kFirstLine, 0600);
  RunNotes notes = bench.make();
  notes.set("new");

  notes.write();

  struct stat status {};
  BOOST_REQUIRE_EQUAL(::stat(bench.file().c_str(), &status), 0);
  BOOST_TEST((status.st_mode & 0777u) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_task_without_notes_has_none) {
  const RunNotes notes(Task{}, "/out");

  BOOST_TEST(!notes.are_kept());
  BOOST_TEST(notes.file().empty());
}

BOOST_AUTO_TEST_SUITE_END()
