package command

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"quarry/ecs"
)

// reason says why a command cannot apply.
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
	// errors.md: `the entity is not alive` | Why, in a `Failure`. Destroy and Remove of what is
	// gone are no failures. | Often two systems that both do something to one entity; a lower `Key`
	// goes first.
	isDead: "the entity is not alive",
	// errors.md: `a command before ended the entity` | Why: earlier in the same buffer, by
	// `Destroy` or by `Remove` of its last Cleanup type. | Often two systems that both do something
	// to one entity; a lower `Key` goes first.
	hasEnded: "a command before ended the entity",
	// errors.md: `the entity was destroyed, and has no sparse types while Cleanup types keep it` |
	// Why, before the buffer or in it. | Add sparse types to entities that live.
	isDying: "the entity was destroyed, and has no sparse types while Cleanup types keep it",
	// errors.md: `the entity does not have the type then` | Why: `Set` of what is not there. |
	// `Put` gives or replaces.
	lacksType: "the entity does not have the type then",
	// errors.md: `what is to be copied is not alive, or was destroyed and has only Cleanup types
	// left` | Why: `Instantiate`. | Keep the pattern: a `Prefab` that nobody destroys.
	hasNoCopy: "what is to be copied is not alive, or was destroyed and has only Cleanup types left",
	// errors.md: `comes later in the order of playback, or failed` | Why: a placeholder is used
	// before it is made. | Record both with one key, in one body.
	notCreated:  "the entity is not created: its Create or Instantiate comes later in the order of playback, or failed",
	namesNobody: "its value holds a placeholder of an entity whose creation comes later in the order of playback, or failed",
	// errors.md: `there is no room for the elements` | Why: a limit of buffers, or memory. The
	// error wraps the `*ecs.LimitError`. | Fewer elements. The other commands were applied.
	noRoom: "there is no room for the elements",
	// errors.md: `World.Restore ended the entity that was named, and its id is another's now` |
	// Why: the command was recorded before a `World.Restore`, and names an entity, perhaps in its
	// value, that came after the snapshot. | `Clear` buffers when the world is put back.
	isOthers: "World.Restore ended the entity that was named, and its id is another's now",
}

// Failure describes a command that could not be applied, and where it was recorded.
type Failure struct {
	Command string     // the kind and the type, such as "Set Position"
	Entity  ecs.Entity // as recorded; Null for a list or query whose value cannot be applied
	Why     string
	Key     int64
	Flight  uint64 // 0: recorded by the buffer's own writer
	Ordinal int    // of the batch
	Number  int    // among that writer's commands with this key and batch, from 0
	Line    string // file:line of the recording call; only with Trace and in debug builds
}

// String returns the failure as one line of text.
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
	about := f.Command
	if f.Entity != ecs.Null {
		about = fmt.Sprintf("%s of %v", f.Command, f.Entity)
	}
	return fmt.Sprintf("%s (%s): %s", about, where, f.Why)
}

// errors.md: `*PlayError` | Commands could not be applied: `Failures` has the first hundred, with
// the number of each. With `Applied` false nothing has changed and the commands are still recorded.
// | `PlayRest` for the others, or `Clear`. `command.Trace` gives the lines that recorded them.

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
func (p *player) fail(r *record, o *op, e ecs.Entity, why reason) {
	if p.failed++; len(p.failures) < MostFailures {
		p.failures = append(p.failures, p.describe(r, o, e, why))
	}
}

// failLate notes that a command found no room for an entity, or no sparse type to set or toggle,
// while it was being played.
func (p *player) failLate(r *record, o *op, e ecs.Entity, err error) {
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
func (p *player) recorded(r *record, e ecs.Entity) ecs.Entity {
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
func (p *player) locate(r *record) {
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
func (p *player) describe(r *record, o *op, e ecs.Entity, why reason) Failure {
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
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Flight, b.Flight), cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.Number, b.Number))
	})
	return &PlayError{Failures: list[:min(len(list), MostFailures)], Count: count, Applied: applied, op: op, cause: p.cause}
}
