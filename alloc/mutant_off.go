//go:build !alloc_mutants

package alloc

const mutant = healthy
