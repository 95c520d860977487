#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sortie {

/// Bytes that have arrived and not gone on yet.
class ByteQueue {
 public:
  std::string_view bytes() const noexcept { return std::string_view(data_).substr(begin_); }
  std::size_t size() const noexcept { return data_.size() - begin_; }
  bool empty() const noexcept { return size() == 0; }
  /// To append to.
  std::string& tail() noexcept { return data_; }
  void append(std::string_view bytes) { data_ += bytes; }
  /// Takes bytes off the front.
  void drop(std::size_t count) {
    begin_ += count;
    if (begin_ == data_.size()) {
      data_.clear();
      begin_ = 0;
    } else if (begin_ > kSlack) {
      data_.erase(0, begin_);
      begin_ = 0;
    }
  }
  void clear() noexcept {
    data_.clear();
    begin_ = 0;
  }

 private:
  static constexpr std::size_t kSlack = 64 << 10;
  std::string data_;
  std::size_t begin_ = 0;
};

}  // namespace sortie
