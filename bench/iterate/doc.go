// Package iterate is the workload of the inner loop: 16,000 entities with a position and a velocity
// of two float64 each, position += velocity * dt. One side loops with Rows and Slice, the other
// over two Go slices.
//
// The sides are timed in turn, round by round, so that a noisy moment hits both, and the result is
// the median of the rounds' ratios. dt is a power of two and velocities are small whole numbers, so
// every sum is exact and the answer is known to the bit.
//
//	ours   unit of a chunk, 16,384 B: Entity 408 x 8 | Position 408 x 16 | Velocity 408 x 16
//	plain  []Position 16,000 x 16 B, []Velocity 16,000 x 16 B
package iterate
