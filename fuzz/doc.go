// Package fuzz drives whole packages of quarry with streams of operations and compares every answer
// with a slow, obvious model: Go maps and slices.
//
//	go test ./fuzz/...                                     short forms, 30 s
//	QUARRY_LONG=1 go test ./fuzz/...                       all seeds, all steps, four minutes on two cores
//	QUARRY_LONG=34 go test ./fuzz -run Million -timeout 2h a million steps
//	go test ./fuzz -run xxx -fuzz FuzzWorld -fuzztime 60s -fuzzminimizetime 1s
//	                                                       search for new streams
//	go test -tags quarry_debug ./fuzz, go test -race ./fuzz
//
// Targets: [RunWorld] (quarry/ecs on a universe), [RunUniverse] and [RunHeap] (quarry/alloc),
// [RunTransforms] (quarry/ecs/transform on a hierarchy, against a recursion, bit for bit), and
// [RunSections] (quarry/ecs/scene). Each takes the bytes of one stream and returns the first
// difference, with the step and the operation; a panic or a fault of the code under test is
// returned the same way, with its stack.
//
// A stream is a header and fixed-size records; an incomplete last record is ignored, so every byte
// string is a stream:
//
//	0        1       2        4       8                 24        32
//	+--------+-------+--------+-------+-----------------+---------+----
//	| size   | flags | kinds  | seed  | weights         | record  | ...
//	| 1 B    | 1 B   | 2 B    | 4 B   | 16 B            | 8 B     |
//	+--------+-------+--------+-------+-----------------+---------+----
//
//	record   | pick 1 B | kind 1 B | who 2 B | n 4 B |     little endian
//
// Weights hold two bits per operation: 0 switches it off for this stream, so that streams differ in
// what they do and not only in the order (swarm testing; Groce et al., ISSTA 2012). A record's pick
// chooses among the operations by weight; the operation interprets the other fields: a type, an
// entity or block, and a size, value or variant. The other header fields set the limits of a run.
// The upper five bits of a world's size choose types beyond the first 16: shared types, which make
// many archetypes each, and types that Destroy leaves. Bit 3 of a world's flags chooses a chunk
// type, bit 4 gives snapshots and files managed values.
//
// The model predicts the order of rows for operations on one entity. After a call by query or by
// list it reads the order from the world, and checks that the rows are the expected ones. For
// Changed and Ordered it knows which chunks must pass and which may.
//
// A snapshot of a world comes with a copy of the model (snapshotmodel.go). After a restore
// everything is compared with the copy, and so is the world's hash, and single creations get the
// ids that came next after the snapshot. In a small universe snapshots get lost; then a restore
// must be refused.
//
// A fork is driven as a world of its own, with the model of its moment, beside the world (fork.go).
// Of two moments, the walks of Diff are compared with the two models, and the delta is written,
// damaged, and applied to a fork of the older moment, or to the world after it has gone back
// (delta.go, deltaapply.go). The model knows which deltas must be refused, and which may be.
//
// What a model checks: after every step of a world it compares all counters, and runs World.Verify
// while the world is small; every 64th step, and at the end, it compares all values of all
// entities. Blocks and chunks are filled with their own number when they are allocated and checked
// when they are freed. A call that meets a limit must have changed nothing, and must have had a
// reason: the model knows how many chunks were free.
//
// Sections are baked once, in variants, and what files have is known from the authoring data. Their
// loaders are goroutines, so the model of RunSections compares only when nothing is under way, and
// a stream that fails may pass the next time (section.go).
//
// To reproduce a failure of a seeded test, run it again: the same seed gives the same stream. The
// go tool writes what FuzzX finds to testdata/fuzz/FuzzX.
package fuzz
