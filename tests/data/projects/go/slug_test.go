package slug

import "testing"

func TestBlanksBecomeDashes(t *testing.T) {
	if got := Slug("Two Words"); got != "two-words" {
		t.Error(got)
	}
}
