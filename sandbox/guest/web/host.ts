import type { CryptoOperation } from '#sandbox/crypto/quick-crypto.ts'
import type { PartName } from '#sandbox/protocol/part-names.ts'
import type { HostCallName, LocalCallName } from '#sandbox/protocol/protocol.ts'

import type { PartScript } from './parts.ts'

/**
 * The one object through which code inside the isolate reaches its host. The web platform calls it at run time
 * (`host.print(…)`, never a copy of the method taken at load time: the runtime fills the slots when a context boots).
 * Site code must never get hold of it.
 */
export interface HostPort {
  /** Asks the host; JSON text both ways. A refusal rejects with an Error that has the host's message. */
  call(name: HostCallName | LocalCallName, argument: string): Promise<string>
  /** One line of console output, already formatted. Never throws. */
  print(level: PrintLevel, text: string): void
  /** `fire` runs in a later entry into the isolate, never at once. The id is a positive integer. */
  setTimer(delayMs: number, repeat: boolean, fire: () => void): number
  /** An unknown id is ignored. */
  clearTimer(id: number): void
  /** Milliseconds since the epoch at the moment the host last entered the isolate: the clock stops in between. */
  now(): number
  /** That many bytes of entropy from the host, in a buffer of their own; at most 65 536. */
  random(bytes: number): Uint8Array<ArrayBuffer>
  /**
   * Cryptography that is done at once: the parameters in JSON, and up to four arrays of bytes, each with a
   * buffer of its own. Gives bytes, or text: JSON,
   * `!name:message` for a DOMException, `later` for what is to be asked with `call`.
   */
  crypto(
    operation: CryptoOperation,
    request: string,
    parts: readonly Uint8Array<ArrayBuffer>[],
  ): ArrayBuffer | string
  /** Compiles a part of the web platform; once for each. */
  part(name: PartName): PartScript
  /** A file of the artifact: text, or a data URL where it is not text. Undefined when there is none. */
  readFile(path: string): string | undefined
  /** The path of the entry module in the artifact. */
  entry: string
  /** "Domain to ASCII" of the URL standard; empty for what is no domain. */
  domainToAscii(domain: string): string
  /** What `Deno.env` shows; a copy of its own for each context, which site code may change. */
  env: Record<string, string>
  /** Set by `Deno.serve`: answers calls of the function when its module exports no handler. */
  serve: ((request: Request) => Response | Promise<Response>) | null
}

export type PrintLevel = 'debug' | 'info' | 'warn' | 'error'

/** What the prelude leaves for the host as the non-enumerable, configurable global `__croft`, deleted before site code runs. */
export interface Croft {
  readonly host: HostPort
}

const absent = (): never => {
  throw new Error('The host is not connected yet: this works only while a call runs')
}

/** The port to the host. Its slots are filled when a context boots, so nothing here may be used while modules load. */
export const host: HostPort = {
  call: absent,
  print: absent,
  setTimer: absent,
  clearTimer: absent,
  now: absent,
  random: absent,
  crypto: absent,
  part: absent,
  readFile: absent,
  entry: '',
  domainToAscii: absent,
  env: {},
  serve: null,
}
