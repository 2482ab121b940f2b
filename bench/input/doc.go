// Package input reads small files that others wrote: tables and lists that a program takes as a
// whole. However long a file is, no more of it is held than a valid file can have.
//
//   - [Records] reads CSV, up to 256 KiB: the recorded tables have under 2 KiB;
//   - [Objects] reads an array of JSON objects, up to 4 MiB and 4,096 of them: a
//     whole run of bench/peers has a tenth of that;
//   - a [Tail] keeps the last 64 KiB of what a command prints.
//
// Longer input is an error that matches [ErrLimit]; no more than the limit is held of the text
// before it. Errors do not name the file: the caller knows it.
package input
