import { inject } from 'vitest'

import { type NewKeyPair, newKeyPair } from '#identity/keys/key-pair.ts'

/** As it goes from process to process. */
export interface SerialKeyPair extends Omit<NewKeyPair, 'privateKey'> {
  readonly privateKey: string
}

/** The signing keys of one database's pools: those that the run has made, each once, then new ones. */
export class KeyPairs {
  readonly #prepared = inject('keyPairs').values()

  async next(): Promise<NewKeyPair> {
    const { value } = this.#prepared.next()
    if (value === undefined) return newKeyPair()
    return { ...value, privateKey: Buffer.from(value.privateKey, 'base64') }
  }
}
