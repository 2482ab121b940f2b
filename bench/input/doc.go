// Package input reads small files that others wrote: tables and lists that a
// program takes as a whole. It holds no more of one than a valid one has, however
// long the file is.
//
//   - [Records] reads CSV, up to 256 KiB: the recorded tables have under 2 KiB;
//   - [Objects] reads an array of JSON objects, up to 4 MiB and 4,096 of them: a
//     whole run of bench/peers has a tenth of that;
//   - a [Tail] keeps the last 64 KiB of what a command prints.
//
// What is longer is an error that matches [ErrLimit]; of text in front of it no
// more is held than the limit. Errors do not name the file: the caller knows it.
package input
