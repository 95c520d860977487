#pragma once

#include <unistd.h>

#include <string_view>
#include <utility>

namespace sortie {

/// A file descriptor that closes itself; -1 when it holds none.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int number) noexcept : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// Both ends of a pipe, opened O_CLOEXEC.
struct Pipe {
  Fd read;
  Fd write;
};

/// Throws Error when the system has no descriptors left.
Pipe make_pipe();

/// Writes every byte, over short writes and EINTR. False with errno set when the descriptor failed.
bool write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace sortie
