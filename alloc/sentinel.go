package alloc

import "quarry/alloc/internal/sentinel"

// These sentinels are wrapped by the errors of this package.
var (
	// errors.md: `ErrReserve` | The system refused addresses, or would have left too few to the Go
	// runtime, as under `ulimit -v`; the text has the limit. | A smaller `alloc.Size`; universes
	// that are closed leave their addresses to others. From a call that makes entities: the records
	// of more than 131,072 lie beside the universe, and there are no addresses for them.

	ErrReserve = sentinel.ErrReserve // refused by the system
	// errors.md: `ErrCommit` | The system refused memory, or the budget did. | Free some;
	// `World.Trim`, `Universe.Maintain`.

	ErrCommit = sentinel.ErrCommit // refused by the system or the budget
	// errors.md: `ErrFull` | A universe, stack or pool has no room. | A larger `alloc.Size`.

	ErrFull = sentinel.ErrFull // no room in a universe, Stack, Pool or wrap.Limit
	// errors.md: `ErrTooBig` | A request that no room would do for: a size, an alignment, a
	// setting. | The text has the limit.

	ErrTooBig = sentinel.ErrTooBig // limit of a size, an alignment or a setting
	// errors.md: `ErrInUse` | `Universe.Close` while others have chunks; the text says which. |
	// Close heaps, tables and worlds on it first.

	ErrInUse = sentinel.ErrInUse // Close came too early
)

// errors.md: `ErrLeak` | `Close` with blocks that were never freed. It is closed all the same. |
// `wrap.NewTrack` says who allocated them.

// ErrLeak is wrapped by the error of Close when blocks were still live.
var ErrLeak = sentinel.ErrLeak

// errors.md: `ErrBudget` | More than `SetBudget` allows; `ErrCommit` is beside it. | Free some, or
// raise it.

// ErrBudget is wrapped, beside ErrCommit, by the error of any commit that would exceed the cap set
// by SetBudget.
var ErrBudget = sentinel.ErrBudget

// errors.md: `ErrInjected` | A test refused memory on purpose: `InjectFailures`. | Only tests see
// it.

// ErrInjected is wrapped, beside ErrCommit, by the errors of requests that a Failures refuses.
var ErrInjected = sentinel.ErrInjected
