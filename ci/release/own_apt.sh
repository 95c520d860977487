# apt-get with lists of its own, so that nobody's system changes: to be sourced. own_apt STATE
# ARCHITECTURE [deb-src] makes its folder and sets the array `apt`: "${apt[@]}" update. The places are those
# that the machine's lists name, if they are Debian's.
# shellcheck shell=bash
own_apt() {
  local state=$1 architecture=$2 kind=${3:-deb} keys=/usr/share/keyrings/debian-archive-keyring.gpg signed=""
  mkdir -p "$state/lists/partial" "$state/archives/partial"
  : >"$state/status"
  [ ! -f "$keys" ] || signed="signed-by=$keys "
  # shellcheck disable=SC2016  # apt's own variables
  apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)' 'Created-By: Packages' |
    sort -u | awk -F'|' -v "first=$kind [${signed}arch=$architecture]" \
    '$4 == "main" && $1 == "Debian" { print first, $2, $3, $4 }' >"$state/sources.list"
  # shellcheck disable=SC2034  # who sources this uses it
  apt=(apt-get -q -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture"
    -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State=$state" -o "Dir::State::status=$state/status" -o "Dir::Cache=$state"
    -o APT::Sandbox::User=root)
}
