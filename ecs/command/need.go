package command

import "unsafe"

// need remembers how much of some memory the last plays of a buffer needed. The buffer keeps the
// memory that recent plays needed for the next ones, and frees the rest of an older peak by itself.
type need struct {
	last [recent]int
	at   int
}

// recent is the number of plays for which a peak is remembered.
const recent = 8

// note adds the need of one more play, and returns the largest need of the recent plays.
func (n *need) note(size int) (most int) {
	n.last[n.at] = size
	n.at = (n.at + 1) % recent
	for _, one := range n.last {
		most = max(most, one)
	}
	return most
}

// tally is the number of bytes that lists hold, and how many of them were needed.
type tally struct{ held, used int }

// count adds a list of which used elements were needed.
func count[T any](t *tally, list []T, used int) {
	size := int(unsafe.Sizeof(*new(T)))
	t.held += size * cap(list)
	t.used += size * used
}
