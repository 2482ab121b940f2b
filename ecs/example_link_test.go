package ecs_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"quarry/ecs"
)

// A web page links to towns by the text form of their entities. A link to a town that is gone finds
// no other town, although the index is in use again. JSON has entities as keys and as values.
func ExampleEntity_MarshalText() {
	w, err := ecs.NewWorld()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	towns := ecs.NewArchetype(w)
	genoa, pisa := towns.Create(), towns.Create()
	w.SetName(genoa, "Genoa")
	text, err := genoa.MarshalText()
	if err != nil {
		fmt.Println(err)
		return
	}
	serve := func(path string) {
		var e ecs.Entity
		switch err := e.UnmarshalText([]byte(strings.TrimPrefix(path, "/towns/"))); {
		case err != nil:
			fmt.Println(400, err)
		case !w.Alive(e):
			fmt.Println(404)
		default:
			fmt.Println(200, w.Name(e))
		}
	}
	link := "/towns/" + string(text)
	serve(link)
	serve("/towns/1")
	w.Destroy(genoa)
	w.SetName(towns.Create(), "Lucca")
	serve(link)

	type Ledger struct {
		Owner ecs.Entity
		Debts map[ecs.Entity]int
	}
	sent, err := json.Marshal(Ledger{Owner: pisa, Debts: map[ecs.Entity]int{genoa: 100}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var got Ledger
	fmt.Println(json.Unmarshal(sent, &got), got.Owner == pisa, got.Debts[genoa])
	// Output:
	// 200 Genoa
	// 400 ecs: Entity.UnmarshalText: "1": want null, or index, version and world as 12v3@5
	// 404
	// <nil> true 100
}
