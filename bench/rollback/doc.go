// Package rollback is a workload of games over a network: the state of each frame is saved before
// the frame, and when input of others comes late the game goes back and plays the frames again.
//
//	frame            0 1 2 3 4 5 6 7             8 9 ...
//	saved before     * * * * * * * *             * *
//	goes back                        to 0 again,     8 frames at once
//	plays again      0 1 2 3 4 5 6 7
//
// Every eighth frame goes back by eight, to the oldest of a ring of eight saved states, and plays
// them again with the same input. So each frame is played twice, and the end must be that of a game
// that never went back.
//
// There are two games: boids, where each frame writes all rows in place, and a field of acorns of
// Life, where a fifth of the rows come and go in each frame. Worlds are saved by World.Snapshot and
// go back by World.Restore; the plain games copy their whole state, into memory that they use
// again. Each world has a twin that is never saved, stepped in turns with it: it gives the cost of
// a frame without snapshots, and the hash that is right.
package rollback
