// Package journal keeps a world in a folder: a base, which is a world file (package image), and a
// log of what changed in each commit since. Whatever ends the program, the next one goes on from
// the last commit that was acknowledged.
//
//	j, err := journal.Open("town", func(w *ecs.World) {    // the world of the last commit
//		ecs.Register[Position](w)                      // all types, before any row is there
//	})
//	w := j.World()                                         // which the program changes as any other
//	err = j.Commit()                                       // once a frame
//	err = j.Sync()                                         // all commits are on the disk
//	err = j.Close()                                        // before the world
//
// [SyncEach], [SyncEvery] and [SyncNever] choose when commits reach the disk, [CompactAt] when a
// new base is written. [View] gives the world without opening the journal, [Check] checks each
// byte, and Journal.Backup copies a journal that is running.
//
// The folder after 1,200 commits before the base and three after it, of a world of 200,000
// entities of 40 B of which a frame changes 1 %:
//
//	lock                                            0 B    held while a journal is open
//	base-00000000000000001200.world        14,704,120 B    the state of commit 1,200
//	log-00000000000000001200.journal                64 B   header, which names the base
//	                                         56 B + delta  commit 1,201
//	                                         56 B + delta  commit 1,202
//	                                         56 B + delta  commit 1,203
//	                                                 56 B  mark: all before is on the disk
//
// docs/files.md has the format byte by byte.
//
// Ownership: the world of a [Journal] is the caller's and outlives it; the folder is the journal's
// until Close, and a second journal in it is refused ([ErrInUse]).
//
// Goroutines: Commit, Rebase and Close belong to the owner of the world; all other methods may be
// called by any goroutine. A goroutine of the journal compares, writes and syncs.
//
// Failure: the world is never touched by a failure of the disk. An error that wraps [ErrRebase]
// remains until Rebase; all others end when a later commit or Sync succeeds. [Open] refuses a log
// that is damaged where commits had been acknowledged ([ErrLog]) and a base that is damaged
// (image.ErrFile), and what a crash left half written it cuts off.
//
// Garbage collector: one record at a time passes through a buffer of Go memory. Cost: a commit
// takes a snapshot (ecs.World.Snapshot), and the copies of what is written while it is alive.
package journal
