#include "tools/search/ordered_work.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(ordered_work)

namespace {

using Work = OrderedWork<std::size_t>;

/// Hands over files "d/0", "d/1" … @return  how many were accepted
std::size_t add_files(Work& work, std::size_t count) {
  const auto folder = std::make_shared<const Fd>();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = "d/" + std::to_string(i);
    if (!work.add({folder, path.c_str() + 2, path})) return i;
  }
  return count;
}

/// Slower for some files, so that threads overtake each other. In any thread, where Boost checks nothing.
std::size_t look(const WalkedFile& file) {
  if (!file.path.ends_with(file.name)) throw std::logic_error("another name");
  const std::size_t number = std::stoul(file.name);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < (number % 64 == 0 ? 100'000u : 100u); ++i) sum += i * number;
  return number + (sum & 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_found_comes_in_the_walks_order) {
  for (const std::size_t count : {0, 1, 63, 64, 65, 5000}) {
    std::vector<std::size_t> taken;
    Work work([] { return look; },
              [&](const WalkedFile& file, std::size_t& found) {
                taken.push_back(found);
                return file.path == "d/" + std::to_string(found);
              });

    BOOST_TEST(add_files(work, count) == count);
    BOOST_TEST(work.finish());

    std::vector<std::size_t> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = i;
    BOOST_TEST(taken == all);
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_taken_after_the_end) {
  std::size_t taken = 0;
  Work work([] { return look; }, [&](const WalkedFile&, std::size_t&) { return ++taken < 100; });

  BOOST_TEST(add_files(work, 100'000) < 100'000);
  BOOST_TEST(!work.finish());

  BOOST_TEST(taken == 100u);
  BOOST_TEST(work.is_over());
  BOOST_TEST(add_files(work, 1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_failed_look_is_thrown_after_what_came_before) {
  std::size_t taken = 0;
  Work work(
      [] {
        return [](const WalkedFile& file) {
          if (file.path == "d/1000") throw std::runtime_error("no");
          return look(file);
        };
      },
      [&](const WalkedFile&, std::size_t&) {
        ++taken;
        return true;
      });

  BOOST_CHECK_THROW((add_files(work, 5000), work.finish()), std::runtime_error);

  BOOST_TEST(taken == 1000u / 64 * 64);
}

BOOST_AUTO_TEST_SUITE_END()
