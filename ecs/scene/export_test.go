package scene

// SetPartRows sets the most entities of a part.
func SetPartRows(b *Bakery, n int) { b.partRows = n }
