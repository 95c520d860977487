#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/failure.h"
#include "core/model/item.h"
#include "core/model/model.h"
#include "core/net/sse.h"

namespace sortie {

/// Reads the events of one response stream. Only the terminal event makes a response.
class WireDecoder {
 public:
  enum class State {
    going_on,  ///< the terminal event has not come
    complete,  ///< take() has the response
    failed,    ///< failure() says why
  };
  virtual ~WireDecoder() = default;
  /// Events after the terminal one are ignored.
  virtual State read(const SseEvent& event) = 0;
  virtual const ModelFailure& failure() const = 0;
  /// The complete response; `first_event` and `duration` are the caller's to fill in.
  virtual Response take() = 0;
};

/// A provider's wire format: settings and items to bytes, stream events to a response.
///
/// A body is head + items joined by "," + tail; the head depends on the settings alone, an item's
/// bytes on the item alone. So each request begins with the bytes of the one before.
class Wire {
 public:
  virtual ~Wire() = default;
  /// "responses": what a cassette calls it.
  virtual std::string_view name() const = 0;
  /// Below the base URL: "/responses".
  virtual std::string_view path() const = 0;
  virtual std::string encode_head(const ModelSettings& settings) const = 0;
  /// Appends one item.
  virtual void encode_item(const Item& item, std::string& to) const = 0;
  virtual std::string_view tail() const = 0;
  virtual std::unique_ptr<WireDecoder> decoder() const = 0;
};

}  // namespace sortie
