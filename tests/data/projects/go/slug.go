// Package slug makes names for addresses.
package slug

import "strings"

// Slug of a title.
func Slug(title string) string {
	return strings.ToLower(title)
}
