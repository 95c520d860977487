#!/usr/bin/env bash
# ci_image_root.sh ROOT WORK OUT PROGRAM… -- CMD…: runs a command as in a container of ci/docker/Dockerfile that
# ci/docker/run.sh starts: a user id without a name, no capabilities, no HOME, a read-only root and
# work folder, /tmp in memory. In a mount namespace of its own: unshare -m.
set -euo pipefail
root=$1 work=$2 out=$3
shift 3
mount -t tmpfs -o mode=755 none "$root"
mkdir -p "$root"/{usr,etc,proc,dev,tmp,work,sortie-out,opt/bin}
for name in bin sbin lib lib64; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$root/"
  elif [ -d "/$name" ]; then
    mkdir "$root/$name" && mount --bind "/$name" "$root/$name"
  fi
done
for name in usr etc; do
  mount --bind "/$name" "$root/$name" && mount -o remount,bind,ro "$root/$name"
done
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,exec none "$root/tmp"
mount --bind "$work" "$root/work" && mount -o remount,bind,ro "$root/work"
mount --bind "$out" "$root/sortie-out"
while [ "$1" != -- ]; do
  program=$root/opt/bin/$(basename "$1")
  touch "$program" && mount --bind "$1" "$program"
  shift
done
shift
mount -o remount,ro "$root"
exec /usr/sbin/chroot "$root" setpriv --reuid 12345 --regid 12345 --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all \
  env -i PATH=/opt/bin:/usr/bin:/bin TMPDIR=/tmp sh -c 'cd /work && exec "$@"' sh "$@"
