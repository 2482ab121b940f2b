// Package blob TODO
package blob
