#!/bin/sh
# Installs sortie in a task's container, from what lies beside this script. Harnesses run or source it,
# as root: nothing is fetched, so that it works where the task has no network.
#   sortie               the program with all libraries in it (docs/install.md, "One file for any machine")
#   ca-certificates.crt  optional: certificates, for an image that has none
# SORTIE_INSTALL names another folder than /installed-agent.
install_sortie() {
  from=${SORTIE_INSTALL:-/installed-agent}
  if [ ! -f "$from/sortie" ]; then
    echo "install.sh: no $from/sortie; build it with ci/release/build" >&2
    return 1
  fi
  mkdir -p /usr/local/bin || return 1
  cp "$from/sortie" /usr/local/bin/sortie && chmod 755 /usr/local/bin/sortie || return 1
  if [ -f "$from/ca-certificates.crt" ]; then
    cp "$from/ca-certificates.crt" /usr/local/bin/ca-certificates.crt || return 1
  fi
  /usr/local/bin/sortie --version || {
    echo "install.sh: this program does not run here: it needs Linux on its architecture" >&2
    return 1
  }
}
install_sortie
