#pragma once

#include <memory>
#include <string>

#include "core/names/host_resolver.h"

namespace sortie {

/// Looks names up by c-ares, which needs no file of a C library: /etc/hosts, then the name servers
/// of resolv.conf(5) with its `search` and `options`, in the order that nsswitch.conf(5) gives these
/// two. Other sources that a machine may name there (mDNS, LDAP, systemd's own) are not asked.
///
/// @param resolv_conf  read at each lookup
/// @param servers      asked instead of its name servers: "127.0.0.1:5353,[::1]:53"; "" for none
std::shared_ptr<HostResolver> ares_resolver(std::string resolv_conf = "/etc/resolv.conf",
                                            std::string servers = "");

}  // namespace sortie
