package alloc

import "quarry/internal/universe/ledger"

// PurgeAll makes the whole process give back empty memory, and returns the bytes that are still
// committed.
func PurgeAll() int64 {
	ledger.Process.Purge(func() bool { return false })
	return ledger.Process.Used()
}

// HoldGoLimit stops all who have been charged, under a budget with a Total, before they
// commit.
func HoldGoLimit() (release func()) {
	return ledger.Process.HoldLimit()
}

// NearIsDone reports whether no call of Near is under way or due.
func NearIsDone() bool { return ledger.Process.Quiet() }

// CommittedBytes is what the layer below has committed.
func (p *Pages) CommittedBytes() int64 { return p.mappings.Committed() }

// Needs is what Go needs now.
func Needs() int64 { return ledger.GoNeeds() }
