package alloc

// FineMost is fineMost.
const FineMost = fineMost

// Fine returns the fine granule, -1 where there is none, and whether its pages are kept small.
func (u *Universe) Fine() (granule int, kept bool) {
	return int(u.fine.granule.Load()) - 1, u.fine.kept.Load()
}
