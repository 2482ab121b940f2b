package disk

// Fresh makes reads of a file come from the disk, not from what the system remembers of it, as far
// as the system can: on Linux, for bytes that were synced. Who checks what was just written wants
// to know what is on the disk.
func Fresh(r Reader) {
	if f, ok := r.(osFile); ok {
		forget(f.File)
	}
}
