import type * as BunFfi from 'bun:ffi'
import { createRequire } from 'node:module'

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`],
  darwin: ['libSystem.B.dylib'],
}

/** The system calls that `closeListener` needs; negative is failure. */
const SYMBOLS = {
  socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
  dup2: { args: ['i32', 'i32'], returns: 'i32' },
  close: { args: ['i32'], returns: 'i32' },
  getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
  getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
} as const

export type Libc = ReturnType<typeof openLibc>

/** Bun's foreign functions. Throws where they may not be used, or no libc is known by these names. */
export function openLibc() {
  const { dlopen }: typeof BunFfi = createRequire(import.meta.url)('bun:ffi')
  const faults: unknown[] = []
  for (const name of LIBRARIES[process.platform] ?? []) {
    try {
      return dlopen(name, SYMBOLS).symbols
    } catch (error) {
      faults.push(error)
    }
  }
  throw new AggregateError(faults, 'No libc could be opened')
}
