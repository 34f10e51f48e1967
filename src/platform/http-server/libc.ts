import type * as BunFfi from 'bun:ffi'
import { createRequire } from 'node:module'

/** The system calls that `closeListener` needs; negative is failure. */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number
  dup2(from: number, onto: number): number
  close(fd: number): number
  getsockopt(fd: number, level: number, option: number, ...out: OutBuffer): number
  getsockname(fd: number, ...out: OutBuffer): number
}

/** A buffer for the answer, and its length, which the call reads and writes. */
type OutBuffer = [answer: ArrayBufferView, length: Int32Array]

interface DenoFfi {
  dlopen(
    name: string,
    symbols: Record<string, { parameters: readonly string[]; result: 'i32' }>,
  ): { symbols: Libc }
}

const LIBRARIES: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['libc.so.6', `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`],
  darwin: ['libSystem.B.dylib'],
}

const SIGNATURES = {
  socket: ['i32', 'i32', 'i32'],
  dup2: ['i32', 'i32'],
  close: ['i32'],
  getsockopt: ['i32', 'i32', 'i32', 'ptr', 'ptr'],
  getsockname: ['i32', 'ptr', 'ptr'],
} as const

/** Throws where the runtime has no foreign functions, may not use them, or knows no libc by these names. */
export function openLibc(): Libc {
  const faults: unknown[] = []
  for (const name of LIBRARIES[process.platform] ?? []) {
    try {
      return 'Bun' in globalThis ? openOnBun(name) : openOnDeno(name)
    } catch (error) {
      faults.push(error)
    }
  }
  throw new AggregateError(faults, 'No libc could be opened')
}

function openOnBun(name: string): Libc {
  const { dlopen, FFIType }: typeof BunFfi = createRequire(import.meta.url)('bun:ffi')
  const signature = (types: readonly ('i32' | 'ptr')[]) => ({
    args: types.map((type) => FFIType[type]),
    returns: FFIType.i32,
  })
  return dlopen(name, mapSignatures(signature)).symbols as unknown as Libc
}

function openOnDeno(name: string): Libc {
  const { Deno } = globalThis as unknown as { Deno: DenoFfi }
  const signature = (types: readonly ('i32' | 'ptr')[]) => ({
    parameters: types.map((type) => (type === 'ptr' ? 'buffer' : type)),
    result: 'i32' as const,
  })
  return Deno.dlopen(name, mapSignatures(signature)).symbols
}

const mapSignatures = <Signature>(of: (types: readonly ('i32' | 'ptr')[]) => Signature) => ({
  socket: of(SIGNATURES.socket),
  dup2: of(SIGNATURES.dup2),
  close: of(SIGNATURES.close),
  getsockopt: of(SIGNATURES.getsockopt),
  getsockname: of(SIGNATURES.getsockname),
})
