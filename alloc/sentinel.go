package alloc

import "quarry/internal/universe/sentinel"

// These sentinels are wrapped by the errors of this package.
var (
	ErrReserve = sentinel.ErrReserve // refused by the system

	ErrCommit = sentinel.ErrCommit // refused by the system or the budget

	ErrFull = sentinel.ErrFull // no room in a universe, Stack, Pool or wrap.Limit

	ErrTooBig = sentinel.ErrTooBig // limit of a size, an alignment or a setting

	ErrInUse = sentinel.ErrInUse // Close came too early
)

// ErrLeak is wrapped by the error of Close when blocks were still live.
var ErrLeak = sentinel.ErrLeak

// ErrBudget is wrapped, beside ErrCommit, by the error of any commit that would exceed the cap set
// by SetBudget.
var ErrBudget = sentinel.ErrBudget

// ErrInjected is wrapped, beside ErrCommit, by the errors of requests that a Failures refuses.
var ErrInjected = sentinel.ErrInjected
