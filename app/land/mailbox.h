#pragma once

#include <string>

#include "app/land/commit_target.h"
#include "core/workspace/diff/patch_text.h"

namespace sortie {

/// A commit as a mail.
struct Mail {
  std::string commit;  ///< its id; "" if there is none
  Identity from;
  std::string date;     ///< RFC 5322
  std::string message;  ///< of the commit: subject, blank line, body; as quoted_words() leaves it
  const PatchText& patch;
};

/// One mail in the mbox format, for `git am`: as `git format-patch` writes it, but in base64 if the
/// diff holds bytes that a mail or git's reading of one would change (carriage returns, NUL, lines
/// that begin with "From ", bytes that are no UTF-8, very long lines).
/// Source: RFC 4155, RFC 2045, RFC 2047; git: mailinfo.c, mailsplit
std::string mailbox(const Mail& mail);

/// The date of now, as a mail has it.
std::string mail_date();

}  // namespace sortie
