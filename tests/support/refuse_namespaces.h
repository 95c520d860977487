#pragma once

namespace sortie::test {

/// Makes this process and its children live as in a container engine's default profile:
/// namespaces and mounts are EPERM, clone3 is ENOSYS. For a forked child: it can't be undone.
/// Sets no_new_privs where it is not root.
/// @return 0 or the errno
int refuse_namespaces();

}  // namespace sortie::test
