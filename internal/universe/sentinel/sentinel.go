package sentinel

import "errors"

// These are the sentinels.
var (
	ErrReserve  = errors.New("address space refused")
	ErrCommit   = errors.New("memory refused")
	ErrFull     = errors.New("full")
	ErrTooBig   = errors.New("request over the limit")
	ErrInUse    = errors.New("still in use")
	ErrLeak     = errors.New("blocks were never freed")
	ErrBudget   = errors.New("over the budget of the process")
	ErrInjected = errors.New("refused by a test")
)
