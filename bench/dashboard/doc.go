// Package dashboard is a workload of reports that are made while the work goes on, at the pace of a
// game: accounts trade in every frame and new ones are opened, 60 frames a second, and four
// goroutines add all of them up, each five times a second.
//
//	owner     frame 0      frame 1      frame 2      frame 3      ...
//	          |work|.......|work|P......|work|.......|work|P......     . sleeps, P publishes
//	readers      asks      waits [ adds up 1 ]  asks      [ adds up 3 ]
//
// A reader requests a state, and the owner publishes one at the end of that frame, for all requests
// since the last: a snapshot of the world, which readers loop over while the owner writes the rows;
// or, on the plain side, a copy of all rows, which the owner waits for; or, on its other side, the
// rows themselves, under a lock that the next frame waits for. A frame begins when its time has
// come, or when the one before has ended if that is later; what it takes is its work and the
// publication. Blocks of frames with readers and of frames without any state or reader alternate.
//
// Trades give from one account to the next, each account counts the frames, and new ones begin with
// what they would have: so each report must have 1,000 for each account, and the same number of
// frames for each, which follows from the number of accounts. A report that mixes frames is wrong,
// and so is one of a frame before the request.
package dashboard
