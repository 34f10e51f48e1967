import { ABSENT_SYSCALLS, DENIED_SYSCALLS, JUDGED_SYSCALLS } from './denied-syscalls.ts'

export type Architecture = 'x64' | 'arm64'

/** <linux/audit.h> */
const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
/** <linux/seccomp.h>: what becomes of a call. The low half of `ERRNO` is the error. */
const ALLOW = 0x7fff0000
const KILL_PROCESS = 0x80000000
const ERRNO = 0x00050000
const EPERM = 1
const ENOSYS = 38
/** <linux/filter.h>: load a word, jump if equal, if greater or equal, if any bit is set, and return. */
const LOAD = 0x20
const JUMP_EQUAL = 0x15
const JUMP_GREATER_EQUAL = 0x35
const JUMP_BITS = 0x45
const RETURN = 0x06
/** Offsets in `struct seccomp_data`. */
const AT_NUMBER = 0
const AT_ARCHITECTURE = 4
const AT_FIRST_ARGUMENT = 16
/** The other set of numbers that an x86-64 kernel takes, x32, begins here. */
const X32 = 0x40000000
const AF_UNIX = 1
const CLONE_THREAD = 0x00010000
/** All that make a namespace, CLONE_NEWNS to CLONE_NEWNET. */
const CLONE_NAMESPACES = 0x7e020000

interface Instruction {
  readonly code: number
  readonly jumpTrue: number
  readonly jumpFalse: number
  readonly value: number
}

export const architectureOf = (arch: string): Architecture | undefined =>
  arch === 'x64' || arch === 'arm64' ? arch : undefined

/**
 * A program for the kernel that refuses what a sandbox process never needs. Calls by another architecture's numbers end the process;
 * processes cannot be made, only threads; sockets can only be local ones. `execve` stays, since the process itself begins with it.
 */
export function seccompFilter(architecture: Architecture): Buffer {
  const of = (table: Readonly<Record<string, readonly number[]>>): number[] =>
    Object.values(table).flatMap((numbers) => numbers[architecture === 'x64' ? 0 : 1] ?? [])
  const [clone = 0, socket = 0] = of(JUDGED_SYSCALLS)
  const program = [
    instruction(LOAD, AT_ARCHITECTURE),
    jump(JUMP_EQUAL, AUDIT_ARCH[architecture], [1, 0]),
    instruction(RETURN, KILL_PROCESS),
    instruction(LOAD, AT_NUMBER),
    ...answerWhen(JUMP_GREATER_EQUAL, X32, EPERM),
    ...of(DENIED_SYSCALLS).flatMap((number) => answerWhen(JUMP_EQUAL, number, EPERM)),
    ...of(ABSENT_SYSCALLS).flatMap((number) => answerWhen(JUMP_EQUAL, number, ENOSYS)),
    // A thread, and not one with a namespace of its own.
    ...judged(clone, [
      jump(JUMP_BITS, CLONE_THREAD, [0, 1]),
      jump(JUMP_BITS, CLONE_NAMESPACES, [0, 1]),
    ]),
    ...judged(socket, [jump(JUMP_EQUAL, AF_UNIX, [1, 0])]),
    instruction(RETURN, ALLOW),
  ]
  return Buffer.concat(program.map(encoded))
}

const instruction = (code: number, value: number): Instruction => ({
  code,
  jumpTrue: 0,
  jumpFalse: 0,
  value,
})

/** `skips` are how many instructions are left out when it holds, and when it does not. */
const jump = (
  code: number,
  value: number,
  [jumpTrue, jumpFalse]: readonly [number, number],
): Instruction => ({ code, jumpTrue, jumpFalse, value })

const answerWhen = (code: number, value: number, error: number): Instruction[] => [
  jump(code, value, [0, 1]),
  instruction(RETURN, ERRNO | error),
]

/** Loads the first argument; `checks` end at the refusal, or one behind it to allow. */
const judged = (number: number, checks: readonly Instruction[]): Instruction[] => [
  jump(JUMP_EQUAL, number, [0, checks.length + 3]),
  instruction(LOAD, AT_FIRST_ARGUMENT),
  ...checks,
  instruction(RETURN, ERRNO | EPERM),
  instruction(RETURN, ALLOW),
]

/** `struct sock_filter`, in the byte order of both architectures. */
function encoded({ code, jumpTrue, jumpFalse, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(jumpTrue, 2)
  bytes.writeUInt8(jumpFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
