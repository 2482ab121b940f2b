package host

import (
	"fmt"
	"os"
	"strings"
)

// Put compares the text between two marks of a page, <!-- name --> and <!-- end of name -->, which
// stand in lines of their own, with what it should be, and reports whether they are the same. With
// write it makes them the same.
func Put(page, name, text string, write bool) (same bool, err error) {
	old, err := os.ReadFile(page)
	if err != nil {
		return false, err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	before, rest, ok := strings.Cut(string(old), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return false, fmt.Errorf("%s: has no marks %q and %q", page, begin, end)
	}
	now := before + begin + text + end + after
	if now == string(old) || !write {
		return now == string(old), nil
	}
	return true, os.WriteFile(page, []byte(now), 0o600)
}
