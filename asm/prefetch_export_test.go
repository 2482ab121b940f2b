package asm

// PrefetchCall is the cap on the addresses of one assembly call.
const PrefetchCall = prefetchCall
