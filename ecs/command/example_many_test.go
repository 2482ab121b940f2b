package command_test

import (
	"errors"
	"fmt"
	"strings"

	"quarry/ecs"
	"quarry/ecs/command"
)

type Shield struct{ Power int32 }
type Burning struct{ Steps int32 }
type Frozen struct{}

// A function records what a spell does, through the writer of a buffer or of a job's batch.
func ExampleWriter_Apply() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	shield := ecs.Register[Shield](w, ecs.Enableable)
	burning, frozen := ecs.Register[Burning](w), ecs.Register[Frozen](w)
	units := ecs.NewArchetype(w, shield, frozen)
	ada, alan := units.Create(), units.Create()
	heat := ecs.NewChange(w, ecs.Remove(frozen), ecs.Add(burning))
	spell := func(out *command.Writer) {
		out.Apply(ada, heat) // both in one move
		out.Disable(ada, shield)
		out.Add(alan, burning) // with the zero value
		out.Enable(alan, shield)
	}
	cb := command.NewBuffer(w)
	defer cb.Close()
	spell(cb.Writer)
	if err := cb.Play(); err != nil {
		panic(err)
	}
	for _, e := range []ecs.Entity{ada, alan} {
		fmt.Println("burning", burning.Has(e), "frozen", frozen.Has(e), "shielded", shield.Enabled(e))
	}
	// Output:
	// burning true frozen false shielded false
	// burning true frozen true shielded true
}

// What happens to those that a spell has hit: a command is about a whole list, or a part of it.
func ExampleWriter_ApplyList() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	shield := ecs.Register[Shield](w, ecs.Enableable)
	burning, frozen := ecs.Register[Burning](w), ecs.Register[Frozen](w)
	made, err := ecs.NewArchetype(w, shield, frozen).CreateN(4)
	if err != nil {
		panic(err)
	}
	hit := made.Entities(nil)
	douse := ecs.NewChange(w, ecs.Remove(burning))
	cb := command.NewBuffer(w)
	defer cb.Close()
	cb.AddList(hit, burning)
	cb.DisableList(hit, shield)
	cb.EnableList(hit[:1], shield)
	cb.RemoveList(hit[:2], frozen)
	cb.ApplyList(hit[2:3], douse)
	cb.DestroyList(hit[3:])
	if err := cb.Play(); err != nil {
		panic(err)
	}
	count := func(term ecs.Term) int { return ecs.NewQuery(w, term).Count() }
	fmt.Println(count(ecs.With(burning)), "burn,", count(ecs.With(frozen)), "is frozen,",
		count(ecs.Read(shield)), "is shielded, of", w.Stats().Alive)
	// Output: 2 burn, 1 is frozen, 1 is shielded, of 3
}

// A year: each command finds the entities that match when its turn comes, after the commands before
// it.
func ExampleWriter_ApplyQuery() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	position, velocity := ecs.Register[Position](w), ecs.Register[Velocity](w)
	shield := ecs.Register[Shield](w, ecs.Enableable)
	frozen := ecs.Register[Frozen](w)
	for _, a := range []*ecs.Archetype{ecs.NewArchetype(w, shield, position), ecs.NewArchetype(w, shield)} {
		if _, err := a.CreateN(5); err != nil {
			panic(err)
		}
	}
	outside := ecs.NewQuery(w, ecs.With(position), ecs.Without(frozen))
	cold, moving := ecs.NewQuery(w, ecs.With(frozen)), ecs.NewQuery(w, ecs.With(velocity))
	shielded := ecs.NewQuery(w, ecs.Read(shield))
	wake := ecs.NewChange(w, ecs.Add(velocity))
	cb := command.NewBuffer(w)
	defer cb.Close()

	cb.AddQuery(outside, frozen)
	cb.DisableQuery(cold, shield) // of those that the command before has frozen
	if err := cb.Play(); err != nil {
		panic(err)
	}
	fmt.Println("winter:", cold.Count(), "frozen,", shielded.Count(), "shielded")

	cb.EnableQuery(cold, shield)
	cb.ApplyQuery(cold, wake)
	cb.RemoveQuery(moving, frozen)
	if err := cb.Play(); err != nil {
		panic(err)
	}
	fmt.Println("spring:", moving.Count(), "moving,", cold.Count(), "frozen,", shielded.Count(), "shielded")

	cb.DestroyQuery(moving)
	if err := cb.Play(); err != nil {
		panic(err)
	}
	fmt.Println("autumn:", w.Stats().Alive, "stay")
	// Output:
	// winter: 5 frozen, 5 shielded
	// spring: 5 moving, 0 frozen, 10 shielded
	// autumn: 5 stay
}

// Commands carry the elements of buffers, and shared values.
func ExampleAppend() {
	type Item struct{ Kind, Count int32 }
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	position := ecs.Register[Position](w)
	stock, guild := ecs.RegisterBuffer[Item](w), ecs.RegisterShared[string](w)
	merchant, hermit := ecs.NewArchetype(w, stock).Create(), ecs.NewArchetype(w, position).Create()
	cb := command.NewBuffer(w)
	defer cb.Close()
	command.SetBuffer(cb, merchant, stock, Item{Kind: 1, Count: 3}) // who has a stock
	command.Append(cb, merchant, stock, Item{Kind: 2, Count: 1})
	command.PutBuffer(cb, hermit, stock, Item{Kind: 7, Count: 1}) // whether he has or not
	command.AddShared(cb, []ecs.Entity{merchant, hermit}, guild, "bakers")
	if err := cb.Play(); err != nil {
		panic(err)
	}
	fmt.Println(stock.Slice(merchant), stock.Slice(hermit))
	fmt.Println(guild.Get(hermit))
	// Output:
	// [{1 3} {2 1}] [{7 1}]
	// bakers true
}

// Lower keys are played first, whatever was recorded first. With a limit, room is made beforehand,
// so that no recording is refused.
func ExampleWriter_Key() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	shield := ecs.Register[Shield](w)
	e := ecs.NewArchetype(w, shield).Create()
	cb := command.NewBuffer(w, command.Limit(64<<10))
	defer cb.Close()
	fmt.Println("a command of 2 MiB:", errors.Is(cb.Reserve(1, 2<<20), command.ErrSize))
	fmt.Println("10,000 commands:", errors.Is(cb.Reserve(10_000, 8), command.ErrLimit))
	if err := cb.Reserve(2, 8); err != nil {
		panic(err)
	}
	cb.Key(2)
	command.Set(cb, e, shield, Shield{Power: 1})
	cb.Key(1)
	command.Set(cb, e, shield, Shield{Power: 9})
	fmt.Println(cb.Len(), "commands in", cb.Bytes(), "bytes")
	if err := cb.Play(); err != nil {
		panic(err)
	}
	fmt.Println("power", shield.Get(e).Power)
	// Output:
	// a command of 2 MiB: true
	// 10,000 commands: true
	// 2 commands in 16384 bytes
	// power 1
}

// Commands that cannot be applied are named, with the line that recorded them.
func ExamplePlayError() {
	w, err := ecs.NewWorld()
	if err != nil {
		panic(err)
	}
	defer w.Close()
	position, shield := ecs.Register[Position](w), ecs.Register[Shield](w)
	made, err := ecs.NewArchetype(w, position).CreateN(150)
	if err != nil {
		panic(err)
	}
	cb := command.NewBuffer(w, command.Trace)
	defer cb.Close()
	cb.Key(7)
	for _, e := range made.Entities(nil) {
		command.Set(cb, e, shield, Shield{Power: 1}) // nobody has one
	}
	var refused *command.PlayError
	if err := cb.Play(); !errors.As(err, &refused) {
		panic(err)
	}
	fmt.Println(refused.Count, "failed,", min(refused.Count, command.MostFailures), "are listed:")
	f := refused.Failures[1]
	fmt.Println(f.Command, "of", f.Entity, "with key", f.Key, "as number", f.Number)
	fmt.Println(f.Flight == 0 && f.Ordinal == 0, strings.Contains(f.Line, "example_many_test.go:")) // of no job
	// Output:
	// 150 failed, 100 are listed:
	// Set Shield of 2v1 with key 7 as number 1
	// true true
}
