package command

import (
	"sync"
	"testing"

	"quarry/ecs"
	"quarry/ecs/internal/door"

	"github.com/stretchr/testify/require"
)

// TestSeal: a sealed buffer takes no command and panics with the reason, and still returns the
// entities that it made.
func TestSeal(t *testing.T) {
	y := openYard(t)
	l := y.lend(t)
	cb := l.Lend()
	e := y.full.Create()
	part := cb.Parallel(partOf{0, 1, 0})
	part.Destroy(y.plain.Create())
	shot := cb.Create(y.full)
	require.NoError(t, cb.Play())
	made, hash := cb.Made(shot), y.w.Hash()
	const why = "the point end simulation has been played: ask for its buffer in each update"
	l.Seal(why)
	for name, f := range map[string]func(){
		"Writer.Create":   func() { cb.Create(y.plain) },
		"Writer.Destroy":  func() { part.Destroy(e) },
		"Writer.Key":      func() { cb.Key(1) },
		"Set":             func() { Set(part, e, y.pos, position{}) },
		"Append":          func() { Append(cb, e, y.hits) },
		"Add":             func() { Add(cb, y.q, y.pos, position{}) },
		"Buffer.Parallel": func() { cb.Parallel(partOf{0, 1, 1}) },
		"Buffer.Reserve":  func() { _ = cb.Reserve(1, 0) },
		"Buffer.Play":     func() { _ = cb.Play() },
		"Buffer.PlayRest": func() { _ = cb.PlayRest() },
		"Buffer.Clear":    cb.Clear,
		"Buffer.Trim":     cb.Trim,
	} {
		require.Equal(t, "command: "+name+": the buffer is sealed: "+why, panicOf(f))
		require.True(t, cb.mu.TryLock(), "the panic of %s keeps others out", name)
		cb.mu.Unlock()
	}
	require.Equal(t, hash, y.w.Hash())
	require.Equal(t, made, cb.Made(shot))
	require.True(t, y.w.Alive(made))
	require.Zero(t, cb.Len())
	require.Equal(t, "0 commands, 32768 B\n", cb.String())
	l.Seal("another time")
	require.Contains(t, panicOf(func() { cb.Destroy(e) }), "sealed: another time")
}

// TestLend: the buffer is as a new one, but for its memory.
func TestLend(t *testing.T) {
	for name, options := range map[string][]Option{"plain": nil, "kept": {Keep}} {
		y := openYard(t)
		l := y.lend(t, options...)
		cb := l.Lend()
		e, lost := y.full.Create(), y.full.Create()
		for round := range 3 {
			cb.Key(7)
			Set(cb, e, y.pos, position{1, 1})
			shot := cb.Create(y.full)
			require.NoError(t, cb.Play())
			cb.Destroy(lost) // and not played
			bytes := cb.Bytes()
			l.Seal("why")
			require.Zero(t, cb.Len(), name)
			require.Same(t, cb, l.Lend())
			require.Zero(t, cb.Len(), name)
			require.Equal(t, ecs.Null, cb.Made(shot))
			require.Equal(t, bytes, cb.Bytes())
			require.Contains(t, panicOf(func() { cb.Destroy(shot) }), "of another buffer, or from before")
			Set(cb, e, y.pos, position{2, 2})
			cb.Key(3)
			Set(cb, e, y.pos, position{3, 3})
			require.NoError(t, cb.Play())
			require.Equal(t, position{3, 3}, *y.pos.Get(e), "%s, round %d: the key is 0 at first again", name, round)
			require.True(t, y.w.Alive(lost))
			cb.Clear()
		}
	}
}

// TestLenderMisuse: nil and zero lenders, those whose buffer is playing or closed, and borrowers
// who end what they borrowed.
func TestLenderMisuse(t *testing.T) {
	y := openYard(t)
	l := y.lend(t)
	nobody := ": the lender is nil or the zero value; lenders come from NewLender"
	for name, f := range map[string]func(*Lender){
		"Seal": func(l *Lender) { l.Seal("why") }, "Lend": func(l *Lender) { l.Lend() }, "Close": (*Lender).Close,
	} {
		require.Equal(t, "command: Lender."+name+nobody, panicOf(func() { f(nil) }))
		require.Equal(t, "command: Lender."+name+nobody, panicOf(func() { f(new(Lender)) }))
	}
	cb := l.Lend()
	shot := cb.Create(y.full)
	cb.state.Store(playing) // as in another goroutine
	require.Contains(t, panicOf(func() { l.Seal("why") }), "Lender.Seal: the buffer is being played")
	require.Contains(t, panicOf(l.Close), "Lender.Close: the buffer is being played")
	cb.state.Store(recording)
	require.Same(t, cb, l.Lend())
	require.Equal(t, 1, cb.Len(), "what was lent already stays as it is")
	lent := "command: Buffer.Close: the buffer is lent, and its lender closes it; Clear drops what was recorded"
	require.Equal(t, lent, panicOf(cb.Close))
	require.NoError(t, cb.Play())
	require.True(t, y.w.Alive(cb.Made(shot)))
	l.Seal("why")
	require.Equal(t, lent, panicOf(cb.Close))
	l.Close() // gives the chunks back, or the world would not close
	l.Close()
	require.Zero(t, cb.Bytes())
	require.Contains(t, panicOf(func() { l.Seal("why") }), "the buffer is closed")
	require.Contains(t, panicOf(func() { cb.Destroy(y.full.Create()) }), "the buffer is closed")
	require.Equal(t, "command: Lender.Lend: the buffer is closed", panicOf(func() { l.Lend() }))
}

// TestSealIsSeenByOthers: a recording in another goroutine panics with the name.
func TestSealIsSeenByOthers(t *testing.T) {
	y := openYard(t)
	l := y.lend(t)
	cb := l.Lend()
	e := y.full.Create()
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if said := panicOf(func() { cb.Parallel(partOf{worker, 1, i}).Destroy(e) }); said != "" {
					if said != "command: Buffer.Parallel: the buffer is sealed: it is late" &&
						said != "command: Writer.Destroy: the buffer is sealed: it is late" {
						t.Error(said)
					}
					return
				}
			}
		})
	}
	l.Seal("it is late")
	wg.Wait()
	l.Lend()
	require.Zero(t, cb.Len())
	require.NoError(t, cb.Play())
	require.True(t, y.w.Alive(e))
}

// TestSealWaits: jobs may record, so Seal waits for what is lent to them before it is too late.
func TestSealWaits(t *testing.T) {
	y := openYard(t)
	l := y.lend(t)
	cb := l.Lend()
	e := y.full.Create()
	var borrow *ecs.Borrow
	borrow = door.NewBorrow(ecs.NewQuery(y.w, ecs.Read(y.pos)), "job", func(string) {
		cb.Parallel(partOf{0, 1, 0}).Destroy(e) // or this panics
		borrow.End()
	})
	door.Borrow(borrow).Begin("Borrow.Begin")
	l.Seal("why")
	require.False(t, door.Borrow(borrow).Out)
	l.Lend()
	require.NoError(t, cb.Play())
	require.True(t, y.w.Alive(e))
}
