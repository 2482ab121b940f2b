package ecs_test

import (
	"fmt"

	"quarry/ecs"
)

// A store of accounts finds those that were written since it last looked, row by row: a writer
// switches the tag Saved off. [ecs.Changed] finds chunks only. Names are buffers of bytes, for
// components hold no strings.
func ExampleDisabled() {
	type Account struct{ ID, Cents int }
	type Saved struct{}

	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	account, saved := ecs.Register[Account](w), ecs.Register[Saved](w, ecs.Enableable)
	name := ecs.RegisterBuffer[byte](w, ecs.Inline(16))
	batch, err := ecs.NewArchetype(w, account, name, saved).CreateN(100_000)
	if err != nil {
		fmt.Println(err)
		return
	}
	byID := batch.Entities(nil)
	for id, e := range byID {
		account.Set(e, Account{ID: id})
		name.Append(e, fmt.Appendf(nil, "account %d", id)...)
	}
	unsaved := ecs.NewQuery(w, ecs.Read(account), ecs.Read(name), ecs.Disabled(saved))

	paid := []ecs.Entity{byID[3], byID[70_000], byID[99_999]}
	for i, a := range account.MutList(nil, paid) {
		a.Cents += 100 + i
	}
	saved.DisableList(paid)
	w.Destroy(byID[3])
	fmt.Println(account.Get(byID[3]) == nil, unsaved.Count())
	for rows := range unsaved.Rows() {
		a := account.Slice(rows)
		for i := range rows.Each() {
			fmt.Println(a[i], string(name.At(rows, i).Slice()))
		}
	}
	fmt.Println(saved.EnableQuery(unsaved), "saved,", unsaved.Count(), "left")
	// Output:
	// true 2
	// {99999 102} account 99999
	// {70000 101} account 70000
	// 2 saved, 0 left
}
