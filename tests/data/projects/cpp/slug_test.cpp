#include "slug.h"

int main() { return slug("Two Words") == "two-words" ? 0 : 1; }
