package ecstest

import "fmt"

// PanicText returns what f panics with, as text, or "".
func PanicText(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}
