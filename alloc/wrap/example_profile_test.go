package wrap_test

import (
	"fmt"
	"os"
	"path/filepath"

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
	dir, err := os.MkdirTemp("", "profile")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "quarry.pb.gz"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	if err := profile.WriteProfile(file); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("go tool pprof -top -sample_index=inuse_space -tagfocus=allocator=textures", filepath.Base(file.Name()))
	// Output:
	// go tool pprof -top -sample_index=inuse_space -tagfocus=allocator=textures quarry.pb.gz
}
