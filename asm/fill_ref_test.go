package asm

// FillRef is the obvious twin of Fill. Tests compare against it.
func FillRef[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}
