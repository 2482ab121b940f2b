// Package bake makes sections of package scene of what other programs wrote: scenes in glTF, and a
// catalogue of asteroids, and compares what is loaded with the input.
//
//	scene.gltf --> a Node for each node, with the id of its parent --> Local, Parent, Shape
//	                                                                   LocalToWorld
//	asteroids  --> an Orbit for each row                           --> Body
//
// A node's matrix in the world must be what its own and its parents' translation, rotation and
// scale come to, to the bit, as both are computed by package transform; and near what they come to
// in float64 by the formula of the glTF specification.
package bake
