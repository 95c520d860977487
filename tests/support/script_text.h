#pragma once

#include "policies/shell/script.h"

namespace sortie::test {

/// What stands before a command in a script that is written anew.
inline const char* link_text(ScriptLink link) {
  switch (link) {
    case ScriptLink::first:
      return "";
    case ScriptLink::and_then:
      return " && ";
    case ScriptLink::or_else:
      return " || ";
    case ScriptLink::then:
      return " ; ";
    case ScriptLink::pipe:
      return " | ";
  }
  return "?";
}

}  // namespace sortie::test
