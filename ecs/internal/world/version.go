package world

// Newer reports whether version is later than since; every version is newer than 0.
func Newer(version, since uint32) bool { return since == 0 || int32(version-since) > 0 }

// Advance is ecs.World.Advance.
func (w *World) Advance() uint32 {
	w.CheckNotLent("World.Advance")
	w.Tables.Version++
	if w.Tables.Version == 0 {
		w.Tables.Version = 1
	}
	return w.Tables.Version
}
