# Prints the results in TAP.
. ./units.sh
count=0
failed=0

check() { # NAME EXPECTED GOT
  count=$((count + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $count - $1"
  else
    echo "not ok $count - $1"
    failed=1
  fi
}

echo "TAP version 13"
check metres 3000 "$(to_metres 3)"
check minutes 120 "$(to_minutes 2)"
check "the table of units is there" yes "$(test -e /srv/units/table.csv && echo yes)"
echo "1..$count"
exit $failed
