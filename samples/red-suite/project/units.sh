# Conversions of units, in whole numbers.

to_metres() { echo $(($1 * 1000)); }

to_minutes() { echo $(($1 * 60)); }
