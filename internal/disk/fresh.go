package disk

// Fresh makes reads of a file come from the disk, not from what the system remembers of it, as far
// as the system can: on Linux, for bytes that were synced. A check of bytes just written must read
// those on the disk.
func Fresh(r Reader) {
	if f, ok := r.(osFile); ok {
		forget(f.File)
	}
}
