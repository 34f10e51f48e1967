import { inject } from 'vitest'

import { type NewKeyPair, newKeyPair } from '#identity/keys/key-pair.ts'

/** As it goes from process to process. */
export interface SerialKeyPair extends Omit<NewKeyPair, 'privateKey'> {
  readonly privateKey: string
}

/** Those that the run has made, then what the databases of this process have needed beyond them. */
const made: Promise<NewKeyPair>[] = []

/** The signing keys of one database's pools: each once there, and the same in the next database. */
export class KeyPairs {
  #used = 0

  /** A copy: the caller that encrypts a private key wipes it. */
  async next(): Promise<NewKeyPair> {
    const at = this.#used
    this.#used += 1
    const { privateKey, ...pair } = await (made[at] ??= newOrPrepared(at))
    return { ...pair, privateKey: Buffer.from(privateKey) }
  }
}

async function newOrPrepared(at: number): Promise<NewKeyPair> {
  const prepared = inject('keyPairs')[at]
  if (prepared === undefined) return newKeyPair()
  return { ...prepared, privateKey: Buffer.from(prepared.privateKey, 'base64') }
}
