import { getPriority, setPriority } from 'node:os'
import process from 'node:process'

import { CryptoFailure } from './crypto-failure.ts'
import { CryptoFields } from './crypto-fields.ts'
import { pbkdf2 } from './derivations.ts'
import { rsaPair } from './key-pairs.ts'

/** What long work came to, and the processor time that it took. */
export interface LongResult {
  readonly text: string
  readonly cpuMs: number
}

/** Half the share of a busy processor that the isolates' thread has. */
const NICER = 3
const LOWEST = 19

// Only Linux has a priority for each thread. It may only be lowered, and the process may have a low one already.
if (process.platform === 'linux') setPriority(Math.min(LOWEST, getPriority() + NICER))

/** Cryptography that takes long: bytes are base64 in its JSON. Runs in a thread of its own, and cannot be interrupted. */
export function runLongCrypto(request: string): LongResult {
  const before = process.threadCpuUsage()
  const text = answered(request)
  const { user, system } = process.threadCpuUsage(before)
  return { text, cpuMs: (user + system) / 1000 }
}

function answered(request: string): string {
  try {
    const fields = new CryptoFields(request)
    if (fields.oneOf('operation', ['generateRsa', 'pbkdf2']) === 'generateRsa')
      return rsaPair(fields)
    const parts = [fields.text('password'), fields.text('salt')]
    return pbkdf2(
      fields,
      parts.map((part) => Buffer.from(part, 'base64')),
    ).toString('base64')
  } catch (error) {
    if (error instanceof CryptoFailure) return error.text
    return new CryptoFailure('OperationError', 'The operation is not one that is known').text
  }
}
