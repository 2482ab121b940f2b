package wrap_test

import (
	"bytes"
	"fmt"

	"quarry/alloc"
	"quarry/alloc/wrap"
)

// Two allocators on one heap share a profile, in which they have their names as labels.
func ExampleProfile() {
	u, err := alloc.NewUniverse()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer u.Close()
	heap, err := alloc.NewHeap(u)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer heap.Close()
	profile := wrap.NewProfile(0) // once in 512 KiB
	textures, meshes := profile.Wrap(heap, "textures"), profile.Wrap(heap, "meshes")
	for _, a := range []alloc.Allocator{textures, textures, meshes} {
		p, err := a.Alloc(100_000, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer a.FreeSized(p, 100_000, 0)
	}
	var file bytes.Buffer // or os.Create("quarry.pb.gz")
	if err := profile.WriteProfile(&file); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Len() > 0,
		"go tool pprof -top -sample_index=inuse_space -tagfocus=allocator=textures quarry.pb.gz")
	// Output:
	// true go tool pprof -top -sample_index=inuse_space -tagfocus=allocator=textures quarry.pb.gz
}
