// Package snapshot is a workload of the three things that snapshots cost: taking one, what is
// written after it, and the way back. Rows have 40 B: an id, a position and a velocity.
//
//	take    1,000,000 rows, of which none is written: Snapshot alone
//	some    100,000 rows: Snapshot, 1,000 rows side by side written in place, Restore, Close
//	all     1,000,000 rows: Snapshot, a frame that writes all positions, Close
//
// The plain side keeps rows in Go slices and copies them all, into memory that it uses again, and
// copies them back. All ways are timed in turns. What "all" may cost is a frame without a snapshot
// and a plain copy of as many bytes as the frame writes, both timed in the same round.
//
// In each round rows are moved without a snapshot, which stays, and after one, which a restore
// takes back. Velocities are small whole numbers and dt is a power of two, so every place at the
// end is known to the bit.
package snapshot
