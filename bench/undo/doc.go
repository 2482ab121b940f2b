// Package undo is a workload of an editor: a scene of 20,000 things, a thousand small steps of
// which each can be undone, and then all the way back and forth again.
//
//	edits       1  2  3 ... 1,000      a dozen each: move, create, destroy, rename, light, path, mark
//	states   0  1  2  3 ... 1,000      all kept
//	back     0 <--------------- 1,000  step by step
//	forth    0 ---------------> 1,000
//
// A thing has a number, a place and mostly a name; some have a light, some a path, which is a
// buffer, and some a mark, which is a sparse value. On our side each state is a snapshot of the
// world. The plain side does what editors do without them: things are never written but replaced,
// and each step notes what it replaced.
//
// Both sides give the same digest of each state: the sum of the hashes of all things. World.Hash,
// which knows ids and the order of rows too, must be that of a world that saved nothing and never
// went back. What checks is not timed, and nothing that is timed runs between two checks: the way
// is gone once by the clock and once to check.
package undo
