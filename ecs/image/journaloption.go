package image

import (
	"fmt"
	"time"
)

// journalSettings is what options say about a journal.
type journalSettings struct {
	policy    syncPolicy
	every     time.Duration // of syncEvery
	compactAt int64         // bytes of a log; 0: only Compact compacts
	cut       bool          // go on before damage
}

type syncPolicy uint8

const (
	syncEvery syncPolicy = iota
	syncEach
	syncNever
)

// What a journal does unless options say otherwise.
const (
	defaultSync      = 100 * time.Millisecond
	defaultCompactAt = 256 << 20 // bytes
)

// SyncEach makes Journal.Commit return when the commit is on the disk. Commits that wait for one
// another are synced together.
func SyncEach() Option { return func(s *settings) { s.journal.policy = syncEach } }

// SyncEvery makes a journal bring commits to the disk at most d after they were written, several at
// once: what a crash of the machine loses is up to d, and what is under way. It is the default,
// with 100 ms. d must be positive.
func SyncEvery(d time.Duration) Option {
	if d <= 0 {
		// errors.md: `image: SyncEvery: the duration is ...` | It is not positive. | `SyncEach`
		// syncs after each commit, `SyncNever` leaves it to the system.
		panic(fmt.Sprintf("image: SyncEvery: the duration is %v, which is not positive", d))
	}
	return func(s *settings) { s.journal.policy, s.journal.every = syncEvery, d }
}

// SyncNever leaves it to the system when commits come to the disk; a crash of the process loses
// nothing that was written. Journal.Sync and Journal.Close sync.
func SyncNever() Option { return func(s *settings) { s.journal.policy = syncNever } }

// CompactAt makes a journal begin a new base in the background when its log has so many bytes, by
// default 256 MiB; 0 leaves it to Journal.Compact. It bounds the log, and the time that opening
// takes: about 1 s for 256 MiB.
func CompactAt(bytes int64) Option {
	if bytes < 0 {
		// errors.md: `image: CompactAt: the size is ...` | It is negative. | 0 leaves it to
		// `Compact`.
		panic(fmt.Sprintf("image: CompactAt: the size is %d bytes, which is negative", bytes))
	}
	return func(s *settings) { s.journal.compactAt = bytes }
}

// CutDamaged makes OpenJournal go on from the last good record where the log is damaged, or cannot
// be read, before commits that had been acknowledged; without it that is an error. What is cut is
// gone: copy the folder first.
func CutDamaged() Option { return func(s *settings) { s.journal.cut = true } }
