package ecs

import (
	"fmt"
	"io"

	"quarry/ecs/internal/delta"
)

// DecodeDelta reads one delta of at most so many bytes, as EncodeDelta writes it, and nothing
// behind it, for Delta.ApplyTo and EncodeDelta. It belongs to no world, so a goroutine may read it
// from the network beside frames. The delta cannot be walked. An error wraps ErrDelta, and that of
// the reader if it failed. Memory is taken as bytes arrive; values stay in them, and lists take up
// to some 50 bytes for each byte that an enemy may send. DecodeDelta panics if most is negative.
func DecodeDelta(r io.Reader, most int) (*Delta, error) {
	if r == nil {
		panic("ecs: DecodeDelta: the reader is nil")
	}
	if most < 0 {
		panic(fmt.Sprintf("ecs: DecodeDelta: most=%d is negative", most))
	}
	made, err := delta.ReadDelta("DecodeDelta", r, most)
	return deltaFrom(made), err
}
