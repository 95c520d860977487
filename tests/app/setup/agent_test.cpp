#include "app/setup/agent.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/images/image_file.h"
#include "core/text/base64.h"
#include "tests/support/images.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(task_images)

BOOST_AUTO_TEST_CASE(an_image_with_a_known_secret_is_refused_by_its_name) {
  const Redactor redactor(std::vector<Secret>{{"DB_PASSWORD", "s3cr3t-value"}});
  const TaskImage clean{"/t/clean.png", *read_image_header(test::images::kPng),
                        test::images::kPng + "ghp_abcdefghijklmnopqrstuvwxyz0123456789"};
  TaskImage telling = clean;
  telling.path = "/t/telling.png";
  telling.content += "\nComment: s3cr3t-value\n";

  const std::vector<Image> shown = sortie::task_images({clean}, redactor);

  BOOST_REQUIRE(shown.size() == 1u);
  BOOST_TEST(shown[0].base64 == base64_encoded(clean.content));
  BOOST_CHECK_EXCEPTION(
      sortie::task_images({clean, telling}, redactor), Error, [](const Error& error) {
        const std::string text = error.what();
        return error.code() == ExitCode::usage &&
               text.find("/t/telling.png holds the known secret DB_PASSWORD") != text.npos &&
               text.find("s3cr3t") == text.npos;
      });
}

BOOST_AUTO_TEST_SUITE_END()
