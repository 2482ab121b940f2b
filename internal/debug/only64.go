//go:build 386 || arm || mips || mipsle || amd64p32 || armbe || mips64p32 || mips64p32le || ppc || riscv || s390 || sparc

package debug

// All packages import this one, directly or not, so on a system where an int has 32 bits
// this is all that the compiler says: sizes and addresses here need 64.
const _ = quarry_is_for_64_bit_systems
