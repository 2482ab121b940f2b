//go:build quarry_debug || race

package debug

// On is true in builds with the quarry_debug or the race tag.
const On = true
