#include "core/model/failure.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(failure)

BOOST_AUTO_TEST_CASE(statuses_by_what_to_do_about_them) {
  const auto error = [](const std::string& code) {
    return R"({"error":{"message":"Words.","type":"t","code":")" + code + "\"}}";
  };
  const struct {
    int status;
    std::string body;
    bool transient;
    ExitCode code;
    const char* kind;
  } rows[] = {
      {408, "", true, ExitCode::unavailable, "status"},
      {409, "", true, ExitCode::unavailable, "status"},
      {429, "", true, ExitCode::limited, "rate_limit"},
      {429, error("rate_limit_exceeded"), true, ExitCode::limited, "rate_limit"},
      {429, error("insufficient_quota"), false, ExitCode::limited, "billing"},
      {429, R"({"error":{"type":"usage_limit_reached","message":"m","resets_in_seconds":60}})",
       false, ExitCode::limited, "quota"},
      {500, error("insufficient_quota"), true, ExitCode::unavailable, "server_error"},
      {502, "<html>bad gateway</html>", true, ExitCode::unavailable, "server_error"},
      {503, "", true, ExitCode::unavailable, "server_error"},
      {504, "", true, ExitCode::unavailable, "server_error"},
      {529, "", true, ExitCode::unavailable, "overloaded"},
      {503, error("slow_down"), true, ExitCode::unavailable, "overloaded"},
      {500, R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})", true,
       ExitCode::unavailable, "overloaded"},
      {429, R"({"type":"error","error":{"type":"rate_limit_error","message":"Slow."}})", true,
       ExitCode::limited, "rate_limit"},
      {429, R"({"error":{"message":"You exceeded your current quota."}})", false, ExitCode::limited,
       "billing"},
      {402, "", false, ExitCode::limited, "billing"},
      {400,
       R"({"error":{"type":"invalid_request_error","message":"Your credit balance is too low."}})",
       false, ExitCode::limited, "billing"},
      {400,
       R"({"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8"}})",
       false, ExitCode::refused, "context_length"},
      {400,
       R"({"object":"error","message":"This model's maximum context length is 8 tokens.","code":400})",
       false, ExitCode::refused, "context_length"},
      {404, R"({"type":"error","error":{"type":"not_found_error","message":"model: x"}})", false,
       ExitCode::refused, "unknown_model"},
      {404, "404 page not found", false, ExitCode::refused, "unknown_model"},
      {400, error("invalid_prompt"), false, ExitCode::refused, "invalid_request"},
      {400, error("context_length_exceeded"), false, ExitCode::refused, "context_length"},
      {400, error("content_filter"), false, ExitCode::refused, "content_filter"},
      {400, error("rate_limit_exceeded"), false, ExitCode::refused, "invalid_request"},
      {404, error("model_not_found"), false, ExitCode::refused, "unknown_model"},
      {413, "", false, ExitCode::refused, "context_length"},
      {422, "", false, ExitCode::refused, "invalid_request"},
      {401, error("invalid_api_key"), false, ExitCode::auth, "auth"},
      {403, "", false, ExitCode::auth, "auth"},
      {303, "", false, ExitCode::refused, "redirect"},
      {204, "", false, ExitCode::refused, "invalid_request"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.status << " " << row.body) {
      const ModelFailure failure = failure_of_status({row.status, {}}, row.body, {});
      BOOST_TEST(failure.transient == row.transient);
      BOOST_TEST((failure.code == row.code));
      BOOST_TEST(failure.kind == row.kind);
      BOOST_TEST(failure.status == row.status);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_refusal_for_an_image_is_told_by_its_code_or_by_words_on_an_image) {
  const auto openai = [](const std::string& code, const std::string& message) {
    return R"({"error":{"message":")" + message +
           R"(","type":"invalid_request_error","param":"input","code":)" +
           (code.empty() ? "null" : "\"" + code + "\"") + "}}";
  };
  const auto anthropic = [](const std::string& message) {
    return R"({"type":"error","error":{"type":"invalid_request_error","message":")" + message +
           R"("},"request_id":"req_1"})";
  };
  const struct {
    int status;
    std::string body;
    const char* kind;
  } rows[] = {
      // Responses
      {400,
       openai("invalid_value",
              "The image data you provided does not represent a valid image. Please check your "
              "input and try again with one of the supported image formats: ['image/png']."),
       "invalid_image"},
      {400, openai("invalid_image", "No."), "invalid_image"},
      {400, openai("image_parse_error", "No."), "invalid_image"},
      {400, openai("unsupported_image_media_type", "No."), "invalid_image"},
      {413, openai("image_file_too_large", "No."), "invalid_image"},
      {400,
       openai("invalid_value",
              "Invalid 'input[3].output[1].image_url'. Expected a base64-encoded data URL."),
       "invalid_image"},
      // Chat Completions, and servers that are like it
      {400,
       openai("invalid_image_format",
              "You uploaded an unsupported image. Please make sure your image is valid."),
       "invalid_image"},
      {400, openai("sanitizer_server_error", "You uploaded an unsupported image."),
       "invalid_image"},
      {400, openai("", "Invalid base64 image_url."), "invalid_image"},
      {400, openai("", "cannot identify image file <_io.BytesIO object at 0x7f>"), "invalid_image"},
      {400, openai("", "Invalid content type. image_url is only supported by certain models."),
       "invalid_image"},
      {422, R"({"error":"Failed to load image or audio file"})", "invalid_image"},
      // Messages
      {400, anthropic("Could not process image"), "invalid_image"},
      {400,
       anthropic("messages.2.content.0.tool_result.content.1.image.source.base64: image exceeds 5 "
                 "MB maximum: 5316852 bytes > 5242880 bytes"),
       "invalid_image"},
      {400,
       anthropic("messages.2.content.0.tool_result.content.1.image.source.base64.data: Image does "
                 "not match the provided media type image/png"),
       "invalid_image"},
      // What speaks of no image, or of what only has its name
      {400, openai("invalid_value", "Invalid 'input[3].output': not a valid value."),
       "invalid_request"},
      {400, openai("invalid_base64", "Invalid base64 data."), "invalid_request"},
      {400, openai("unsupported_value", "The model `gpt-image-1` is not supported here."),
       "invalid_request"},
      {400, openai("", "Invalid value: 'view_image' is not supported."), "invalid_request"},
      {400, openai("", "Invalid 'tools[2].description': image words expected."), "invalid_request"},
      {400, anthropic("tools.3.custom.name: image is not a valid name"), "invalid_request"},
      {400, openai("", "Here is an image."), "invalid_request"},
      {400, openai("image_content_policy_violation", "No."), "content_filter"},
      {401, openai("invalid_image", "No."), "auth"},
      {404, R"({"error":{"message":"No endpoints found that support image input"}})",
       "unknown_model"},
      {500, openai("invalid_image", "No."), "server_error"},
      {429, openai("", "Too many images: the limit is exceeded."), "rate_limit"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.status << " " << row.body) {
      const ModelFailure failure = failure_of_status({row.status, {}}, row.body, {});
      BOOST_TEST(failure.kind == row.kind);
      if (std::string(row.kind) == "invalid_image") {
        BOOST_TEST(!failure.transient);
        BOOST_TEST((failure.code == ExitCode::refused));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_providers_words_are_what_stands_behind_the_status) {
  BOOST_TEST(provider_words("127.0.0.1:80: HTTP status 400: No: never.") == "No: never.");
  BOOST_TEST(provider_words("HTTP status 400: HTTP status 1") == "HTTP status 1");
  BOOST_TEST(provider_words("HTTP status 400") == "HTTP status 400");
  BOOST_TEST(provider_words("host: invalid_image: No.") == "host: invalid_image: No.");
}

BOOST_AUTO_TEST_CASE(the_status_is_read_from_the_message) {
  BOOST_TEST(status_in("127.0.0.1:80: HTTP status 429: HTTP status 1").value_or(0) == 429);
  BOOST_TEST(status_in("HTTP status 503").value_or(0) == 503);
  BOOST_TEST(!status_in("HTTP status unknown"));
  BOOST_TEST(!status_in("the stream was cut"));
}

BOOST_AUTO_TEST_CASE(the_wait_is_taken_from_wherever_it_is_named) {
  const auto now = std::chrono::system_clock::from_time_t(784111767);
  const struct {
    HttpHeaders headers;
    std::string body;
    std::optional<std::chrono::milliseconds> wait;
  } rows[] = {
      {{{"Retry-After", "7"}}, "", 7s},
      {{{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}}, "", 10s},
      {{{"Retry-After", "7"}, {"retry-after-ms", "250"}}, "", 250ms},
      {{}, R"({"error":{"message":"Please try again in 1.5s."}})", 1500ms},
      {{}, R"({"error":{"message":"m","resets_in_seconds":60}})", 60s},
      {{}, R"({"error":{"message":"m","resets_at":784111827}})", 60s},
      {{}, R"({"error":{"message":"m","resets_at":1}})", 0s},
      {{{"Retry-After", "soon"}}, "", std::nullopt},
      {{}, "", std::nullopt},
  };
  for (const auto& row : rows)
    BOOST_TEST((failure_of_status({429, row.headers}, row.body, now).retry_after == row.wait),
               row.body);
}

BOOST_AUTO_TEST_CASE(the_providers_words_are_kept_on_one_line) {
  const auto words = [](const std::string& body) {
    return failure_of_status({400, {}}, body, {}).message;
  };
  BOOST_TEST(words(R"({"error":{"message":"No.\nNever."}})") == "HTTP status 400: No. Never.");
  BOOST_TEST(words(R"({"error":"no"})") == "HTTP status 400: no");
  BOOST_TEST(words(R"({"detail":"no"})") == "HTTP status 400: no");
  BOOST_TEST(words("plain\xff") == "HTTP status 400: plain\xEF\xBF\xBD");
  BOOST_TEST(words("") == "HTTP status 400");
  // Half a key would be none that the redactor knows.
  const std::string long_words(990, ' ');
  for (const std::string& body :
       {R"({"error":{"message":")" + long_words + R"(sk-proj-0123456789abcdef"}})",
        std::string(390, ' ') + "sk-proj-0123456789abcdef"})
    BOOST_TEST(words(body).find("sk-") == std::string::npos);
  const ModelFailure coded = failure_of_code(std::string(70, ' ') + "sk-proj-0123456789abcdef", "");
  BOOST_TEST(coded.message.find("sk-") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_usage_limit_names_plan_and_reset) {
  const auto now = std::chrono::system_clock::from_time_t(784111767);
  const std::string body =
      R"({"error":{"type":"usage_limit_reached","message":"The usage limit has been reached",)"
      R"("plan_type":"plus","resets_in_seconds":3600}})";

  const ModelFailure failure = failure_of_status({429, {}}, body, now);

  BOOST_TEST(failure.kind == "quota");
  BOOST_TEST(failure.plan == "plus");
  BOOST_TEST(failure.message ==
             "HTTP status 429: The usage limit has been reached (resets at 1994-11-06T09:49:27Z)");
  BOOST_TEST((failure.retry_after == std::optional<std::chrono::milliseconds>(1h)));
}

BOOST_AUTO_TEST_CASE(an_error_in_a_stream_is_known_by_its_code_type_or_words) {
  const struct {
    const char* error;
    bool transient;
    ExitCode code;
    const char* kind;
  } rows[] = {
      {R"({"type":"overloaded_error","message":"Overloaded"})", true, ExitCode::unavailable,
       "overloaded"},
      {R"({"type":"rate_limit_error","message":"Slow."})", true, ExitCode::unavailable,
       "rate_limit"},
      {R"({"code":"usage_limit_reached","message":"m"})", false, ExitCode::limited, "quota"},
      {R"({"type":"invalid_request_error","message":"prompt is too long: 9 > 8"})", false,
       ExitCode::refused, "context_length"},
      {R"({"code":"context_length_exceeded","message":"m"})", false, ExitCode::refused,
       "context_length"},
      {R"({"code":"invalid_image","message":"m"})", false, ExitCode::refused, "invalid_image"},
      {R"({"type":"invalid_request_error","message":"Could not process image"})", false,
       ExitCode::refused, "invalid_image"},
      {R"({"type":"api_error","message":"m"})", true, ExitCode::unavailable, "server_error"},
      {R"({"type":"error","message":"m"})", true, ExitCode::unavailable, "server_error"},
      {"{}", true, ExitCode::unavailable, "server_error"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.error) {
      const ModelFailure failure = failure_of_error(parse_json(row.error), {});
      BOOST_TEST(failure.transient == row.transient);
      BOOST_TEST((failure.code == row.code));
      BOOST_TEST(failure.kind == row.kind);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
