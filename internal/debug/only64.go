//go:build 386 || arm || mips || mipsle || amd64p32 || armbe || mips64p32 || mips64p32le || ppc || riscv || s390 || sparc

package debug

// All packages import this one, directly or not. So on a system with an int of 32 bits this line is
// the compiler's only message: sizes and addresses here need 64 bits.
const _ = quarry_is_for_64_bit_systems
