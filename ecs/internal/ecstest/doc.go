// Package ecstest has what the tests of several rooms of ecs share: component types, worlds that
// are checked at the end of a test, and models of what a world does. Only test files may import it.
// It stands above ecs, as those tests do: they lie with the room that they test, in packages of
// their own, and make worlds as programs do.
package ecstest
