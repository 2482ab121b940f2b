// Package sentinel has the errors that the errors of package alloc wrap, for all strata of that
// package. Package alloc exports all of them and says when each comes.
package sentinel
