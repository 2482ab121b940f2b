package input

import (
	"errors"
	"fmt"
	"io"
)

// ErrLimit is matched by errors about input longer than any valid input.
var ErrLimit = errors.New("limit reached")

// limited is a reader that fails for good after more than most bytes.
type limited struct {
	r          io.Reader
	left, most int64 // left is below 0 after the failure
}

func limit(r io.Reader, most int64) *limited { return &limited{r, most, most} }

func (l *limited) Read(b []byte) (int, error) {
	n, err := 0, error(nil)
	if l.left >= 0 {
		// One byte beyond the limit shows that there is more.
		n, err = l.r.Read(b[:min(int64(len(b)), l.left+1)])
		l.left -= int64(n)
	}
	if l.left < 0 {
		return max(n-1, 0), fmt.Errorf("%w: expected at most %d bytes: leave out what is not needed", ErrLimit, l.most)
	}
	return n, err
}
