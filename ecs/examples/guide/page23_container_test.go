package guide_test

import (
	"fmt"

	"quarry/alloc"
	"quarry/alloc/container"
	"quarry/ecs"
)

// Player has its name in 8 bytes, and its diary in 8.
type Player struct {
	Name  container.TextID
	Diary alloc.BlockRef
	Score int32
}

// Page 23: containers and blocks.
func Example_container() {
	w, _ := ecs.NewWorld()
	defer w.Close()
	player := ecs.Register[Player](w)

	heap, _ := alloc.NewHeap(w.Universe())
	names := container.NewText(heap)
	byName, _ := container.NewMap[container.TextID, ecs.Entity](heap)

	players := ecs.NewArchetype(w, player)
	for i, s := range []string{"Ada", "Grace", "Alan"} {
		id, _ := names.Intern(s)
		e := players.Create()
		player.Set(e, Player{Name: id, Score: int32(10 * i)})
		_ = byName.Set(id, e)
	}
	id, _ := names.Find("Grace")
	grace, _ := byName.Get(id)
	fmt.Println(player.Get(grace).Score)

	for id, e := range byName.All() {
		if player.Get(e).Score == 0 {
			w.Destroy(e)
			byName.Delete(id)
			names.Release(id)
		}
	}
	fmt.Println(byName.Len(), names.Has(id))

	events, _ := container.NewPriorityQueue[float64, ecs.Entity](heap)
	_ = events.Push(2.5, grace)
	_ = events.Push(0.5, grace)
	at, who, _ := events.Pop()
	fmt.Println(at, w.Alive(who), events.Len())

	blocks := alloc.NewBlocks(heap)
	diary, _ := blocks.Put([]byte("monday: rain"))
	player.Mut(grace).Diary = diary
	text, _ := blocks.Resize(diary, 24)
	copy(text[12:], ", then sun")
	fmt.Printf("%s\n", blocks.Bytes(player.Get(grace).Diary)[:22])
	blocks.Free(diary)
	fmt.Println(blocks.Bytes(player.Get(grace).Diary) == nil)

	_, err := container.NewMap[string, int32](heap)
	fmt.Println(err)
	events.Close()
	byName.Close()
	_ = blocks.Close()
	fmt.Println(heap.Close())
	func() {
		defer func() { fmt.Println(recover()) }()
		names.Find("Ada")
	}()
	// Output:
	// 10
	// 2 true
	// 0.5 true 1
	// monday: rain, then sun
	// true
	// container: NewMap: string is a string; what lies off the heap must hold no Go pointers
	// alloc: Heap.Close: 2 blocks of 32768 bytes: blocks were never freed
	// container: Text.Find: the allocator was closed, or gave up the blocks (Arena.Reset, Arena.Rewind)
}
