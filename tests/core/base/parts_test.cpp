#include "core/base/threads.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(parts)

namespace {

using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;

/// The parts that were done, sorted.
Ranges parts_of(std::size_t size, const std::function<bool(std::size_t)>& may_begin) {
  Ranges done;
  std::mutex guard;
  parallel_for(size, may_begin, [&](std::size_t first, std::size_t last) {
    const std::lock_guard lock(guard);
    done.emplace_back(first, last);
  });
  std::sort(done.begin(), done.end());
  return done;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_index_is_done_once_in_parts_that_begin_where_they_may) {
  const auto hundreds = [](std::size_t i) { return i % 100 == 0; };
  const auto anywhere = [](std::size_t) { return true; };
  const struct {
    const char* name;
    std::size_t size;
    std::function<bool(std::size_t)> may_begin;
    Ranges parts;
  } rows[] = {
      {"nothing", 0, anywhere, {{0, 0}}},
      {"too little", 63, anywhere, {{0, 63}}},
      {"two", 64, anywhere, {{0, 32}, {32, 64}}},
      {"three", 100, anywhere, {{0, 33}, {33, 66}, {66, 100}}},
      {"at the next place", 300, hundreds, {{0, 100}, {100, 200}, {200, 300}}},
      {"late", 128, [](std::size_t i) { return i >= 126; }, {{0, 126}, {126, 127}, {127, 128}}},
      {"nowhere", 1000, [](std::size_t) { return false; }, {{0, 1000}}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ranges parts = parts_of(row.size, row.may_begin);
      BOOST_TEST((parts == row.parts));
    }
  }
  BOOST_TEST(parts_of(10'000, anywhere).size() == 8u);
}

BOOST_AUTO_TEST_SUITE_END()
