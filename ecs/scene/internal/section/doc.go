// Package section is what the file of a section has beside the values of the game's types: who its
// entities are, in which part, and the head, which lists the links that do not move with a part.
// Package bake writes it and package load reads it.
//
// A file names a type by its package, so the types that a world registers are those of package
// scene; they have the fields of the types here, and Types has their handles.
package section
