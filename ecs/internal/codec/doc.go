// Package codec turns the state of a world into bytes and back: numbers as varints, texts and lists
// with their lengths, arrays of words as they are, little-endian. Deltas and world files are made
// of it.
//
//	number 300     ac 02                        2 B
//	text "Hit"     03 48 69 74                  4 B
//	words {1, 2}   02 01 00.. 02 00..          17 B
//
// A [Coder] belongs to one goroutine. Input is never trusted: what ends early, or is longer than
// the rest of the input, makes the Coder bad, and all further values zero. Cost: a call per number;
// what is read takes memory in proportion to the input, whatever lengths it claims.
package codec
