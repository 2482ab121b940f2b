package ecs

// Hash returns a 64-bit hash of all living entities: of each archetype with rows the types, the
// entities, and the fields, enable bits and buffers of their components; and the entries of sparse
// types. The order of rows within an archetype counts. Neither the order of archetypes counts, by
// which queries go, nor the order in which types were registered or entries added, nor how rows are
// cut into chunks. A type counts by kind, package and name; types of one name, as functions declare
// them, are told apart by the order of registration. Padding, capacities, memory addresses and the
// world's tag in entities do not count, so two worlds that went through the same operations have
// the same hash. Indices and versions of entities count, so a world whose entities were created
// anew from a file has another hash. Floats count by their bits. In shared values, pointers,
// channels and the contents of interfaces do not count. Values of managed types do not count at
// all, because Go values have no stable bytes, nor do those of chunk types. A closed world has the
// hash of an empty one. The hash is the same on every platform with little-endian numbers; its
// definition is in docs/semantics.md. Cost: it reads every row, about 0.3 ns per byte.
func (w *World) Hash() uint64 { return w.inner().Hash() }
