package seam

import (
	"quarry/ecs"
	"quarry/internal/seam/under"
)

// DeltaSpare is memory for deltas that are encoded one after the other. The zero value is ready.
type DeltaSpare = under.DeltaSpare

// AppendDelta appends to dst what ecs.EncodeDelta would write of ecs.Diff of two snapshots. The
// error is that of Diff; then dst is as before. Any goroutine may call it, with a spare of its own.
// Cost: proportional to the units of 16 KiB that were written in between, if no entity came, went
// or moved and there are no entries of sparse types; else that of Diff.
func AppendDelta(dst []byte, older, newer *ecs.Snapshot, spare *DeltaSpare) ([]byte, error) {
	return ecs.Inside(key).AppendDelta(dst, older, newer, spare)
}
