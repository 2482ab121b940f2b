// Package boids is a flock (after Craig Reynolds) of any size, twice: World has the birds as
// entities, Plain as a Go slice. Each bird matches the flight of the birds near it, stays with
// them, keeps its distance and is drawn to a lure, which is the input of a frame.
//
//	a bird       P, V: two complex64, 16 B; in World with its id 24 B
//	the plane    wraps around; a square of cells of reach x reach, some two birds for each
//	a frame      1. the grid: copies of all birds, sorted by cell
//	             2. each bird turns by the birds in the nine cells around it, and flies on
//
// Both sides use the same grid, which lasts for one frame, and visit the birds in the same order,
// so they agree to the bit. All that lasts from one frame to the next is in the world: World can go
// back to a snapshot.
//
// A flock belongs to one goroutine. A World must be closed.
package boids
