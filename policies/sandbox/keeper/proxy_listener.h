#pragma once

#include "core/base/fd.h"

namespace sortie {

/// A TCP listener at kProxyAddress and kProxyPort of the network namespace that the caller is in.
/// Without SO_REUSEADDR and SO_REUSEPORT on it, no other socket can bind to that port, by a
/// wildcard address neither, while it lives (socket(7), ip(7)). @throws Error
Fd listen_for_proxy();

}  // namespace sortie
