package input

// maxTail bounds what a Tail keeps, in bytes.
const maxTail = 64 << 10

// Tail is a writer that keeps the end of what is written to it. It is not safe for concurrent use.
type Tail struct {
	text []byte
}

// Write never fails.
func (t *Tail) Write(b []byte) (int, error) {
	n := len(b)
	b = b[max(0, len(b)-maxTail):]
	if more := len(t.text) + len(b) - maxTail; more > 0 {
		t.text = t.text[:copy(t.text, t.text[more:])]
	}
	t.text = append(t.text, b...)
	return n, nil
}

// String returns what was kept.
func (t *Tail) String() string { return string(t.text) }
