// Package sentinel has the errors that the errors of package alloc wrap, for all strata of that
// package. Package alloc exports all of them and documents when each is returned.
package sentinel
