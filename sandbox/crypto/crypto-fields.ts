import { CryptoFailure } from './crypto-failure.ts'

/** Names of hashes, as WebCrypto and as OpenSSL write them. */
const HASHES: Readonly<Record<string, string>> = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
}

/** What the guest's own code writes; anything else was made by someone who got hold of it. */
export class CryptoFields {
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(text: string) {
    const fields: unknown = JSON.parse(text)
    if (typeof fields !== 'object' || fields === null) throw malformed('request')
    this.#fields = fields as Readonly<Record<string, unknown>>
  }

  text(name: string): string {
    const value = this.#fields[name]
    if (typeof value !== 'string') throw malformed(name)
    return value
  }

  oneOf<Name extends string>(name: string, names: readonly Name[]): Name {
    const text = this.text(name)
    const found = names.find((known) => known === text)
    if (found === undefined) throw malformed(name)
    return found
  }

  flag(name: string): boolean {
    return this.#fields[name] === true
  }

  integer(name: string, least: number, most: number): number {
    const value = this.#fields[name]
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
      throw malformed(name)
    return value
  }

  /** As OpenSSL calls it. */
  hash(): string {
    const hash = HASHES[this.text('hash')]
    if (hash === undefined) throw malformed('hash')
    return hash
  }

  /** An object of texts: what it holds beside them is left out. */
  texts(name: string): Readonly<Record<string, string>> {
    const value = this.#fields[name]
    if (typeof value !== 'object' || value === null) throw malformed(name)
    const texts = Object.entries(value).filter(([, item]) => typeof item === 'string')
    return Object.fromEntries(texts) as Readonly<Record<string, string>>
  }
}

const malformed = (name: string): CryptoFailure =>
  new CryptoFailure('OperationError', `The operation's "${name}" is not one that is known`)
