package ecs

import (
	"fmt"
	"io"

	"quarry/ecs/internal/delta"
)

// EncodeDelta writes a delta for World.ApplyDelta. The error is w's. Cost: proportional to the
// delta.
func EncodeDelta(w io.Writer, d *Delta) error {
	if d == nil || d.core.IDs == nil {
		panic("ecs: EncodeDelta: the delta is nil or the zero value; deltas come from Diff")
	}
	if w == nil {
		panic("ecs: EncodeDelta: the writer is nil")
	}
	if _, err := w.Write(d.inner().AppendTo(make([]byte, 0, delta.DeltaFrame+d.inner().Size()))); err != nil {
		return fmt.Errorf("ecs: EncodeDelta: %w", err)
	}
	return nil
}
