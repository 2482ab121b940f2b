package journal

// Status is how a journal stands.
type Status struct {
	Committed    uint64 // number of the last commit
	Written      uint64 // of the last that is in the log
	Acknowledged uint64 // of the last that is on the disk
	Joined       uint64 // commits that have no record of their own, since the journal was opened
	Base         uint64 // whose state the base has
	BaseBytes    int64
	LogBytes     int64
	Compacting   bool  // a new base is asked for, or being written
	Compaction   error // why the last new base failed; nil after one that did not
	Err          error // why the journal cannot write now, the error of Commit; nil if it can
}

// Status returns how the journal stands. It panics if the journal is closed. Any goroutine may call
// it.
func (j *Journal) Status() Status {
	const op = "Journal.Status"
	j.check(op)
	j.mu.Lock()
	defer j.mu.Unlock()
	return Status{
		Committed: j.committed, Written: j.written, Acknowledged: j.acknowledged, Joined: j.joined,
		Base: j.base, BaseBytes: j.baseBytes, LogBytes: j.logBytes,
		Compacting: j.compact || j.compacting, Compaction: j.compaction, Err: j.why(op),
	}
}
