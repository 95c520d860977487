#include "tests/support/refuse_namespaces.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace sortie::test {

int refuse_namespaces() {
  scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
  if (context == nullptr) return ENOMEM;
  int result = seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, ::geteuid() == 0 ? 0 : 1);
  for (const int call :
       {SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(mount), SCMP_SYS(umount2),
        SCMP_SYS(pivot_root), SCMP_SYS(open_tree), SCMP_SYS(move_mount), SCMP_SYS(fsopen),
        SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fspick), SCMP_SYS(mount_setattr)}) {
    if (result == 0) result = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), call, 0);
  }
  for (const scmp_datum_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                  CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    if (result == 0)
      result = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag));
  }
  if (result == 0) result = seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  if (result == 0) result = seccomp_load(context);
  seccomp_release(context);
  return -result;
}

}  // namespace sortie::test
