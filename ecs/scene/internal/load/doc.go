// Package load brings the sections of scenes into a world that runs, and takes them out again. A
// loader reads and checks a section's file in a goroutine of its own, as a world in the host's
// universe; Update moves its parts into the host's world, where the chunks stay in place:
//
//	file --loader--> world of its own --Update--> parts, hidden --Update--> links --> shown
//
// Invariants, checked by Verify:
//
//	S5 Entities with the tag of an instance are those of the instance; each entity of a loaded
//	   instance that lives has the Identity by which it is known.
//	S6 No entity with the tag of an instance of the host that is gone is there.
//
// A Host and its Instances are the cores of those of package scene, where their contracts are. They
// belong to the world's owner; loaders are the host's goroutines.
package load
