// Package dashboard is a workload of reports that are made while the work goes on: accounts trade
// in every frame, new ones are opened, and a second goroutine adds all of them up, as often as it
// can.
//
//	owner    frame 0 | frame 1 | frame 2 | frame 3 | frame 4 | ...
//	state     *                           *
//	reader    [ adds up the state of 0  ] [ adds up that of 3 ...
//
// When the reader is done, the owner gives it the state between two frames: a snapshot of the
// world, which the reader loops over while the owner writes the rows; or, on the plain side, a copy
// of all rows, which the owner waits for.
//
// Trades give from one account to the next, each account counts the frames, and new ones begin with
// what they would have: so each report must say 1,000 for each account, and the number of the frame
// for each, to the last unit. A report that mixes frames is wrong.
package dashboard
