# Imports that nothing uses; a real project runs its linter here.
status=0
for file in *.py; do
  for name in $(sed -n 's/^import //p' "$file"); do
    if [ "$(grep -cw "$name" "$file")" = 1 ]; then
      echo "$file: unused import: $name"
      status=1
    fi
  done
done
exit $status
