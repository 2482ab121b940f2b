package command

import (
	"fmt"
	"runtime"
	"strings"

	"quarry/ecs"
)

// reason says why a command cannot apply.
type reason int32

const (
	isDead reason = iota + 1
	isDestroyed
	lacksType
	hasNoCopy
	notCreated
	namesNobody
	noRoom
)

var reasons = [...]string{
	isDead:      "the entity is not alive",
	isDestroyed: "the entity was destroyed by a command before",
	lacksType:   "the entity does not have the type then",
	hasNoCopy:   "what is to be copied is not alive, or was destroyed and has only Cleanup types left",
	notCreated:  "the entity is not created: its Create or Instantiate comes later in the order of playback, or failed",
	namesNobody: "its value holds a placeholder of an entity whose creation comes later in the order of playback, or failed",
	noRoom:      "there is no room for the elements",
}

// Failure is a command that could not be applied, and where it was recorded.
type Failure struct {
	Command string     // what it does, as Set Position
	Entity  ecs.Entity // that it was about, as it was recorded
	Why     string
	Key     int64
	Flight  uint64 // 0: recorded by the buffer's own writer
	Ordinal int    // of the batch
	Number  int    // among the commands of that writer with this key and batch, from 0
	Line    string // file:line that recorded it; only with Trace and in debug builds
}

// String prints the failure as one line.
func (f Failure) String() string {
	where := fmt.Sprintf("no. %d", f.Number)
	if f.Flight != 0 {
		where += fmt.Sprintf(" of batch %d of flight %d", f.Ordinal, f.Flight)
	}
	if f.Key != 0 {
		where += fmt.Sprintf(" with key %d", f.Key)
	}
	if f.Line != "" {
		where += ", " + f.Line
	}
	return fmt.Sprintf("%s of %v (%s): %s", f.Command, f.Entity, where, f.Why)
}

// PlayError says which commands of a buffer could not be applied.
type PlayError struct {
	Failures []Failure // the first of them in the order of playback, at most MostFailures
	Count    int       // of all
	Applied  bool      // the other commands were applied; false: nothing was
	cause    error     // of noRoom
}

// MostFailures is how many failures a PlayError describes.
const MostFailures = 100

// Error prints the first failures.
func (e *PlayError) Error() string {
	var b strings.Builder
	outcome := "nothing was changed"
	if e.Applied {
		outcome = "the others were applied"
	}
	fmt.Fprintf(&b, "command: Buffer.Play: %d commands cannot apply, %s:", e.Count, outcome)
	for i, f := range e.Failures {
		if i == 10 {
			fmt.Fprintf(&b, "\n\tand %d others", e.Count-i)
			break
		}
		b.WriteString("\n\t" + f.String())
	}
	return b.String()
}

// Unwrap returns the limit that was reached, if one was.
func (e *PlayError) Unwrap() error { return e.cause }

// fail notes a failure.
func (p *player) fail(r *record, o *op, e ecs.Entity, why reason) {
	p.failed++
	if len(p.failures) == MostFailures {
		return
	}
	f := Failure{Command: o.String(), Entity: e, Why: reasons[why], Key: p.segment.key, Flight: p.segment.flight,
		Ordinal: p.segment.ordinal, Number: p.number}
	if pc := r.caller(); pc != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		f.Line = fmt.Sprintf("%s:%d", frame.File, frame.Line)
	}
	p.failures = append(p.failures, f)
}

// failure returns what Play returns for the failures noted.
func (p *player) failure(applied bool) error {
	if p.failed == 0 {
		return nil
	}
	return &PlayError{Failures: append([]Failure(nil), p.failures...), Count: p.failed, Applied: applied, cause: p.cause}
}
