// Package query finds rows: terms become a filter of archetypes (package match keeps its matches),
// and tests that rows must pass; a loop yields the rows of one chunk after the other.
//
//	to find out                                    look into
//	the structs, which need each other             query.go: Query, Binding, Scan, Borrow, Accessor
//	how terms become filter, access and tests      term.go, filter.go, query.go, access.go
//	how a loop goes from chunk to chunk            walk.go, scan.go, rows.go; where.go by shared value
//	how rows of a chunk are told apart             sparsefilter.go, masked.go, between.go, rowversion.go
//	how a row is enabled in a loop                 enable.go
//	what drives a loop over sparse types           drive.go
//	what other goroutines may see                  borrow.go, accessor.go
//
// A Query, and the scans of its world, belong to the world's owner; an Accessor to one goroutine
// while its Borrow is out. A loop allocates nothing: a world keeps its scans, which package world
// reaches by OnLoops. Cost: for each matching chunk, plus, where rows are tested, for each 64 rows
// or for each row.
//
// Look-ups return false; a broken contract panics with the name of the call in package ecs.
package query
