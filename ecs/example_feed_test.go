package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A feed sends the scores that were written since the last time, exact to the row by TrackRows: it
// asks each chunk first, and rows only of a chunk that has changed. The scoreboard follows one
// player by look-up.
func ExampleComponent_ChangedAt() {
	type Score struct{ Points int }

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	score := ecs.Register[Score](w, ecs.TrackRows)
	batch, err := ecs.NewArchetype(w, score).CreateN(1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	players, all := batch.Entities(nil), ecs.NewQuery(w, ecs.Read(score))
	sent := w.Version()
	w.Advance()
	send := func() {
		for rows := range all.Rows() {
			if !score.Changed(rows, sent) {
				continue
			}
			s := score.Slice(rows)
			for i, e := range rows.Entities() {
				if score.ChangedAt(rows, i, sent) {
					fmt.Println(e, "has", s[i].Points)
				}
			}
		}
		if score.ChangedSince(players[500], sent) {
			fmt.Println("the board shows", score.Get(players[500]).Points)
		}
		sent = w.Version()
		w.Advance()
	}
	score.Set(players[3], Score{10})
	score.Mut(players[500]).Points = 20
	send()
	score.Set(players[999], Score{30})
	send()
	// Output:
	// 4v1 has 10
	// 501v1 has 20
	// the board shows 20
	// 1000v1 has 30
}
