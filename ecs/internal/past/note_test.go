package past_test

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"quarry/ecs/internal/past"
	"quarry/internal/debug"
)

// noted is a past of a memory of four units, of which bytes 100 to 40,099 are noted by a layer, and
// the last 8 are fixed.
type noted struct {
	p     past.Past
	m     *past.Memory
	bytes []byte
	l     *past.Layer
}

func newNoted(t *testing.T) *noted {
	if !debug.On {
		t.Skip("other builds note no hashes")
	}
	n := &noted{bytes: make([]byte, 4*past.UnitSize)}
	n.p.Open(newUniverse(t, 4<<20))
	n.m = n.p.Add(unsafe.Pointer(&n.bytes[0]), len(n.bytes))
	n.l = n.p.Begin()
	n.note()
	t.Cleanup(n.close)
	return n
}

func (n *noted) note() {
	text := func(what string) past.Text {
		return func(at, n int) string { return fmt.Sprintf("%s %d+%d", what, at, n) }
	}
	n.l.NoteFixed(n.m, unsafe.Pointer(&n.bytes[len(n.bytes)-8]), 8, text("fixed"))
	n.l.Note(n.m, unsafe.Pointer(&n.bytes[100]), 40_000, text("range"))
	n.l.Note(n.m, unsafe.Pointer(&n.bytes[50]), 50, text("first"))
	n.l.EndNotes()
}

func (n *noted) close() {
	for l := n.p.Newest(); l != nil; l = n.p.Newest() {
		l.Close()
	}
}

// TestCheckNamesEachPart writes bytes past the write barrier, one in each part of a range.
func TestCheckNamesEachPart(t *testing.T) {
	for at, want := range map[int]string{
		49: "", 50: "first 0+50", 99: "first 0+50", 100: "range 0+924", past.PieceSize - 1: "range 0+924",
		past.UnitSize: "range 16284+1024", 2*past.UnitSize - 1: "range 31644+1024",
		2 * past.UnitSize: "range 32668+1024", 40_099: "range 39836+164", 40_100: "",
		4*past.UnitSize - 9: "", 4*past.UnitSize - 8: "fixed 0+8", 4*past.UnitSize - 1: "fixed 0+8",
	} {
		n := newNoted(t)
		require.NoError(t, n.l.Check())
		n.bytes[at]++
		if want == "" {
			require.NoError(t, n.l.Check(), at)
			continue
		}
		require.EqualError(t, n.l.Check(), want, at)
		require.NoError(t, n.l.Check(), "it is told once")
	}
}

// TestBeforeWriteEndsNotes: memory that passed BeforeWrite may be written, but fixed memory may
// not.
func TestBeforeWriteEndsNotes(t *testing.T) {
	n := newNoted(t)
	n.m.BeforeWrite(unsafe.Pointer(&n.bytes[0]), len(n.bytes))
	for i := range n.bytes {
		n.bytes[i]++
	}
	require.EqualError(t, n.l.Check(), "fixed 0+8")
	n.bytes[len(n.bytes)-1]++
	n.l.Restart()
	require.NoError(t, n.l.Check(), "the notes were those of the moment before")
	n.note()
	n.bytes[70]++
	require.EqualError(t, n.l.Check(), "first 0+50")
	n.bytes[70]++
	n.l.Close()
	require.NoError(t, n.l.Check())
}

// TestNotesOfLostLayersAreVoid: blocks are written then.
func TestNotesOfLostLayersAreVoid(t *testing.T) {
	n := newNoted(t)
	var kept past.DeferredFree[int]
	kept.Open(&n.p, func(int) {})
	kept.Lose(0, errors.New("full"))
	n.bytes[len(n.bytes)-1]++
	require.NoError(t, n.l.Check())
}

// TestBeforeWriteComparesNotes: before a unit is copied, those of all layers that lack it are
// compared.
func TestBeforeWriteComparesNotes(t *testing.T) {
	for _, older := range []bool{false, true} {
		n := newNoted(t)
		if older { // the newer layer has no notes
			n.p.Begin()
		}
		write := func(unit int) { n.m.BeforeWrite(n.m.Address(unit), 1) }
		n.bytes[100]++
		write(1)
		require.PanicsWithValue(t, "range 0+924", func() { write(0) })
		require.NoError(t, n.p.Verify(), "the unit is not busy")
		_, written, err := n.l.Old(n.m, 0)
		require.NoError(t, err)
		require.False(t, written)
		write(0)
		old, _, err := n.l.Old(n.m, 0)
		require.NoError(t, err)
		require.Equal(t, n.bytes[:past.UnitSize], old)
		n.bytes[100]++
		write(0)
		require.NoError(t, n.l.Check())
	}
}
