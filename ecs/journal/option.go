package journal

import (
	"fmt"
	"time"

	"quarry/ecs"
	"quarry/ecs/image"
	"quarry/ecs/internal/fileformat"
)

// Option is an option of Open.
type Option func(*settings)

// settings are the result of options.
type settings struct {
	base      fileformat.Settings
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

// The defaults of a journal's options.
const (
	defaultSync      = 100 * time.Millisecond
	defaultCompactAt = 256 << 20 // bytes
)

// SyncEach makes Journal.Commit return when the commit is on the disk. Commits that wait for one
// another are synced together.
func SyncEach() Option { return func(s *settings) { s.policy = syncEach } }

// SyncEvery makes a journal bring commits to the disk at most d after they were written, several at
// once: a crash of the machine loses the commits of the last d, and those under way. It is the
// default, with 100 ms. d must be positive.
func SyncEvery(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("journal: SyncEvery: the duration is %v, which is not positive", d))
	}
	return func(s *settings) { s.policy, s.every = syncEvery, d }
}

// SyncNever leaves it to the system when commits come to the disk; a crash of the process loses
// nothing that was written. Journal.Sync and Journal.Close sync.
func SyncNever() Option { return func(s *settings) { s.policy = syncNever } }

// CompactAt makes a journal begin a new base in the background when its log has so many bytes, by
// default 256 MiB; 0 leaves it to Journal.Compact. It bounds the log, and the time that opening
// takes: about 1 s for 256 MiB.
func CompactAt(bytes int64) Option {
	if bytes < 0 {
		panic(fmt.Sprintf("journal: CompactAt: the size is %d bytes, which is negative", bytes))
	}
	return func(s *settings) { s.compactAt = bytes }
}

// CutDamaged makes Open go on from the last good record where the log is damaged, or cannot
// be read, before commits that had been acknowledged; without it that is an error. What is cut is
// gone: copy the folder first.
func CutDamaged() Option { return func(s *settings) { s.cut = true } }

// Base passes options of package image to the new world and to the reader of the base: image.World
// and image.Into, and those for types that have changed. image.Checked has no effect, as a base is
// always checked.
func Base(options ...image.Option) Option {
	for _, o := range options {
		if o == nil {
			panic("journal: Base: an option is nil")
		}
	}
	return func(s *settings) {
		for _, o := range options {
			o(&s.base)
		}
	}
}

// settingsOf returns the settings by options.
func settingsOf(op string, register func(*ecs.World), options []Option) *settings {
	if register == nil {
		panic("journal: " + op + ": the function that registers the types is nil")
	}
	s := &settings{every: defaultSync, compactAt: defaultCompactAt}
	for _, o := range options {
		if o == nil {
			panic("journal: " + op + ": an option is nil")
		}
		o(s)
	}
	return s
}
