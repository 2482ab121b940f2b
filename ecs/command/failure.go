package command

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"quarry/ecs"
)

// reason is why a command cannot apply.
type reason int32

const (
	isDead reason = iota + 1
	hasEnded
	isDying
	lacksType
	hasNoCopy
	notCreated
	namesNobody
	noRoom
	isOthers
)

var reasons = [...]string{
	isDead:     "the entity is not alive",
	hasEnded:   "a command before ended the entity",
	isDying:    "the entity was destroyed, and has no sparse types while Cleanup types keep it",
	lacksType:  "the entity does not have the type then",
	hasNoCopy:  "what is to be copied is not alive, or was destroyed and has only Cleanup types left",
	notCreated: "the entity is not created: its Create or Instantiate comes later in the order of playback, or failed",
	namesNobody: "its value holds a placeholder of an entity " +
		"whose creation comes later in the order of playback, or failed",
	noRoom:   "there is no room for the elements",
	isOthers: "World.Restore ended the entity that was named, and its id is another's now",
}

// Failure describes a command that could not be applied, and where it was recorded.
type Failure struct {
	Command string     // the kind and the type, such as "Set Position"
	Entity  ecs.Entity // as recorded; Null for a list or query whose value cannot be applied
	Why     string
	Key     int64
	Flight  uint64 // 0: recorded by the buffer's own writer
	Ordinal int    // of the part of the job
	Number  int    // among that writer's commands with this key and part, from 0
	Line    string // file:line of the recording call; only with Trace and in debug builds
}

// String returns the failure as one line of text.
func (f Failure) String() string {
	where := fmt.Sprintf("no. %d", f.Number)
	if f.Flight != 0 {
		where += fmt.Sprintf(" of part %d of flight %d", f.Ordinal, f.Flight)
	}
	if f.Key != 0 {
		where += fmt.Sprintf(" with key %d", f.Key)
	}
	if f.Line != "" {
		where += ", " + f.Line
	}
	about := f.Command
	if f.Entity != ecs.Null {
		about = fmt.Sprintf("%s of %v", f.Command, f.Entity)
	}
	return fmt.Sprintf("%s (%s): %s", about, where, f.Why)
}

// PlayError is returned by Play and PlayRest and describes the commands that could not be applied.
type PlayError struct {
	Failures []Failure // in the order of playback, the first MostFailures at most
	Count    int       // number of all failures
	Applied  bool      // the other commands were applied; if false, nothing was
	op       string    // the call that failed
	cause    error     // of a noRoom failure
}

// MostFailures is the most failures that a PlayError describes.
const MostFailures = 100

// Error describes the first ten failures.
func (e *PlayError) Error() string {
	var b strings.Builder
	outcome := "nothing was changed"
	if e.Applied {
		outcome = "the others were applied"
	}
	what := "1 command"
	if e.Count != 1 {
		what = fmt.Sprintf("%d commands", e.Count)
	}
	fmt.Fprintf(&b, "command: %s: %s cannot apply, %s:", cmp.Or(e.op, "Buffer.Play"), what, outcome)
	for i, f := range e.Failures {
		if i == 10 {
			fmt.Fprintf(&b, "\n\tand %d others", e.Count-i)
			break
		}
		b.WriteString("\n\t" + f.String())
	}
	return b.String()
}

// Unwrap returns the limit error that caused a failure, or nil.
func (e *PlayError) Unwrap() error { return e.cause }

// fail notes that the command being checked cannot apply.
func (p *player) fail(r *commandRecord, o *op, e ecs.Entity, why reason) {
	if p.failed++; len(p.failures) < MostFailures {
		p.failures = append(p.failures, p.describe(r, o, e, why))
	}
}

// failLate notes that a command found no room for an entity, or no sparse type to set or toggle,
// while it was being played.
func (p *player) failLate(r *commandRecord, o *op, e ecs.Entity, err error) {
	why := noRoom
	if err == errLacks {
		why = lacksType
	} else {
		p.cause = err
	}
	if p.lateFailed++; len(p.late) == MostFailures {
		return
	}
	segment, number := p.segment, p.number
	p.locate(r)
	p.late = append(p.late, p.describe(r, o, p.recorded(r, e), why))
	p.segment, p.number = segment, number
}

// recorded returns e as the record names it: the placeholder, if the record has one, or e itself.
func (p *player) recorded(r *commandRecord, e ecs.Entity) ecs.Entity {
	switch {
	case r.e != ecs.Null:
		return r.e
	case r.flags&listed != 0:
		for _, one := range r.list() {
			if p.real(one) == e {
				return one
			}
		}
	}
	return e
}

// locate makes r the record that describe describes, by finding its segment and number.
func (p *player) locate(r *commandRecord) {
	for i := range p.segments {
		p.segment, p.number = &p.segments[i], 0
		c := p.segment.cursor()
		for other := c.next(); other != nil; other = c.next() {
			if other == r {
				return
			}
			p.number++
		}
	}
}

// describe makes the Failure of the current record: which command fails, for which entity and why.
func (p *player) describe(r *commandRecord, o *op, e ecs.Entity, why reason) Failure {
	f := Failure{Command: o.String(), Entity: e, Why: reasons[why], Key: p.segment.key, Flight: p.segment.flight,
		Ordinal: p.segment.ordinal, Number: p.segment.first + p.number}
	if pc := r.caller(); pc != 0 {
		frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		f.Line = fmt.Sprintf("%s:%d", frame.File, frame.Line)
	}
	return f
}

// failure returns the error of Play for the failures noted, nil if there are none.
func (p *player) failure(op string, applied bool) error {
	count := p.failed + p.lateFailed
	if count == 0 {
		return nil
	}
	list := slices.Concat(p.failures, p.late)
	slices.SortStableFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Flight, b.Flight), cmp.Compare(a.Ordinal, b.Ordinal),
			cmp.Compare(a.Number, b.Number))
	})
	return &PlayError{
		Failures: list[:min(len(list), MostFailures)], Count: count, Applied: applied, op: op, cause: p.cause,
	}
}
