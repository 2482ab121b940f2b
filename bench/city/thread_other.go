//go:build !linux

package city

// threadUsage returns nothing: what a thread has had is known on Linux alone.
func threadUsage() usage { return usage{} }
