#include "core/agent/history.h"

#include <boost/test/unit_test.hpp>

#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(history)

BOOST_AUTO_TEST_CASE(the_estimate_follows_what_was_measured) {
  History history;
  Item item = user("x");
  item.received = std::string(4000, 'x');
  history.add(item);

  BOOST_TEST(history.estimated_tokens() == 1000);
  BOOST_TEST(history.estimated_tokens(400) == 1100);
  history.measured(2200, 400);
  BOOST_TEST(history.estimated_tokens(400) == 2200);
  history.measured(1100, 400);
  BOOST_TEST(history.estimated_tokens(400) == 1100);
  history.measured(0, 400);
  BOOST_TEST(history.estimated_tokens(400) == 1100);
  history.measured(1'000'000, 400);
  BOOST_TEST(history.estimated_tokens(400) == 4400);
}

BOOST_AUTO_TEST_SUITE_END()
