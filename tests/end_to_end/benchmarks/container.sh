#!/usr/bin/env bash
# container.sh ROOT VARIABLE=VALUE… COMMAND: runs a line of bash in /app of a root file system, as in the container
# of a terminal task: what it writes there stays in ROOT. In a mount namespace of its own: unshare -m.
set -euo pipefail
root=$1
shift
mkdir -p "$root"/{usr,etc,proc,dev,tmp,root,app,installed-agent,logs/agent,agent-logs,local/bin}
for name in bin sbin lib lib64; do
  if [ -L "/$name" ] && [ ! -L "$root/$name" ]; then
    cp -P "/$name" "$root/"
  elif [ -d "/$name" ] && [ ! -L "/$name" ]; then
    mkdir -p "$root/$name" && mount --bind "/$name" "$root/$name"
  fi
done
for name in usr etc; do
  mount --bind "/$name" "$root/$name" && mount -o remount,bind,ro "$root/$name"
done
mount --bind "$root/local" "$root/usr/local"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
exec /usr/sbin/chroot "$root" env -i HOME=/root PATH=/usr/local/bin:/usr/bin:/bin "${@:1:$#-1}" \
  bash -c "cd /app && ${!#}"
