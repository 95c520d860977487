#include "app/land/mailbox.h"

#include <algorithm>
#include <ctime>
#include <string_view>

#include "core/files/file_name.h"
#include "core/text/base64.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestLine = 900;  // RFC 5322: 998

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// A header's words: as they are, or encoded (RFC 2047). A word "=?" would be decoded.
std::string header_text(const std::string& text) {
  if (is_ascii(text) && text.find("=?") == text.npos) return text;
  constexpr std::size_t kMost = 45;  // bytes; 60 in base64, within the 75 of an encoded word
  std::string encoded;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(begin + kMost, text.size());
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
    encoded += (encoded.empty() ? "" : "\n ") + std::string("=?UTF-8?B?") +
               base64_encoded(std::string_view(text).substr(begin, end - begin)) + "?=";
    begin = end;
  }
  return encoded;
}

std::string address(const Identity& from) {
  const std::string name = is_ascii(from.name) ? "\"" + from.name + "\"" : header_text(from.name);
  return name + " <" + from.email + ">";
}

/// Whether mail programs and git leave these bytes as they are.
bool travels_plainly(const std::string& body) {
  if (body.find('\r') != body.npos || body.find('\0') != body.npos || !is_utf8(body)) return false;
  for (const auto line : split_lines(body))
    if (line.size() > kLongestLine || line.starts_with("From ") || line.starts_with(">From "))
      return false;
  return true;
}

std::string base64_lines(const std::string& body) {
  constexpr std::size_t kLine = 76;
  const std::string text = base64_encoded(body);
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += kLine) lines += text.substr(at, kLine) + "\n";
  return lines;
}

std::string statistics(const PatchText& patch) {
  std::string text;
  for (const DiffFile& file : patch.files)
    text += " " + path_text(file.path) + " | +" + std::to_string(file.added_lines) + " -" +
            std::to_string(file.deleted_lines) + "\n";
  return text;
}

}  // namespace

std::string mail_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[64] = {};
  std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S +0000", &parts);
  return text;
}

std::string mailbox(const Mail& mail) {
  const auto end = mail.message.find('\n');
  const std::string subject = mail.message.substr(0, end);
  const std::string rest(end == mail.message.npos
                             ? std::string_view()
                             : trimmed(std::string_view(mail.message).substr(end)));
  const std::string body = (rest.empty() ? "" : rest + "\n") + "---\n" + statistics(mail.patch) +
                           "\n" + std::string(mail.patch.text.view()) +
                           "-- \nsortie " SORTIE_VERSION "\n";
  const bool plain = travels_plainly(body);
  const std::string commit = mail.commit.empty() ? std::string(40, '0') : mail.commit;
  return "From " + commit + " Mon Sep 17 00:00:00 2001\nFrom: " + address(mail.from) +
         "\nDate: " + mail.date + "\nSubject: [PATCH] " + header_text(subject) +
         "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
         "Content-Transfer-Encoding: " +
         (plain ? "8bit" : "base64") + "\n\n" + (plain ? body : base64_lines(body)) + "\n";
}

}  // namespace sortie
