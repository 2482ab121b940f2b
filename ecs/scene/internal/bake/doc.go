// Package bake makes the files of scenes from authoring data. The result of a baker for an object
// is noted as a record: values as bytes, entities as placeholders. Records are kept with what they
// depend on, and the worlds of sections are assembled from them, so a bake that makes few records
// anew has the result of one that makes all:
//
//	objects          records                         sections
//	tree-1  --baker->  Position, Height    --+
//	tree-2  --baker->  Position, Height    --+-->  main.world
//	house   --baker->  Position, 12 doors  ----->  east.world
//
// Invariants:
//
//	S1 A record follows from the object's authoring data, from its place, section and parent if the
//	   baker asked for it by Object, from the data of the objects it asked for by Of, and from the
//	   files it asked for. When one of these differs, or an object it leads to is gone, it is made
//	   anew.
//	S2 A section's file follows from the records of its objects in their order, their parents, the
//	   sections of the objects they lead to, and the baking systems.
//	S3 In a section's file, Local numbers the entities from 0 in the order of rows, and each entity
//	   has an Identity that no other has.
//	S4 Entity values in a file lead to entities of the file. Those that lead to another part or
//	   section are links of the head too, or alone.
//
// A Bakery and a Context are the cores of those of package scene, where their contracts are.
package bake
