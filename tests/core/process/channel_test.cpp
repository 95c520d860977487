#include "core/process/channel.h"

#include <boost/test/unit_test.hpp>

namespace sortie {
namespace {

BOOST_AUTO_TEST_SUITE(channel)

// As a stop and the end of a command do.
BOOST_AUTO_TEST_CASE(an_answer_is_received_also_where_the_other_end_closed_with_a_message_unread) {
  Channel channel = make_channel();
  BOOST_REQUIRE(send_message(channel.ours.get(), "end"));
  BOOST_REQUIRE(send_message(channel.theirs.get(), "ended by itself"));
  channel.theirs.reset();

  const ChannelMessage answer = receive_message(channel.ours.get(), Wait::no);

  BOOST_TEST(answer.bytes == "ended by itself");
  BOOST_TEST(!answer.closed);
  BOOST_TEST(receive_message(channel.ours.get(), Wait::no).closed);
}

BOOST_AUTO_TEST_CASE(an_end_that_closed_with_a_message_unread_is_closed) {
  Channel channel = make_channel();
  BOOST_REQUIRE(send_message(channel.ours.get(), "end"));
  channel.theirs.reset();
  BOOST_TEST(receive_message(channel.ours.get(), Wait::yes).closed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie
