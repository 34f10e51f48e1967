import { randomBytes, scrypt } from 'node:crypto'

import { AppError } from '#base/app-error.ts'
import { decrypt, encrypt } from '#platform/seal/aes-gcm.ts'

import { type ArchiveHeader, invalidArchive } from './archive-format.ts'

/** OWASP's first choice for scrypt: 128 MiB and about half a second for each guess. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 160 * 1024 * 1024 }
const KEY_BYTES = 32
const SALT_BYTES = 16
const CHECK = 'croft-archive'

export const MIN_PASSPHRASE = 12
export const MAX_PASSPHRASE = 1000

type SealedHeader = NonNullable<ArchiveHeader['passphrase']>

/** Secrets between two installations: AES-256-GCM under a passphrase, by scrypt (RFC 7914). */
export class ArchiveSeal {
  readonly header: SealedHeader
  readonly #key: Buffer

  private constructor(key: Buffer, header: SealedHeader) {
    this.#key = key
    this.header = header
  }

  static async create(passphrase: string): Promise<ArchiveSeal> {
    const salt = randomBytes(SALT_BYTES)
    const key = await keyOf(passphrase, salt)
    const check = encrypt(key, CHECK, Buffer.from(CHECK)).toString('base64')
    return new ArchiveSeal(key, { kdf: 'scrypt', salt: salt.toString('base64'), check })
  }

  /** Throws `WrongPassphrase`. */
  static async open(passphrase: string, header: SealedHeader): Promise<ArchiveSeal> {
    const key = await keyOf(passphrase, Buffer.from(header.salt, 'base64'))
    if (decrypt(key, CHECK, Buffer.from(header.check, 'base64')) === undefined) {
      throw new AppError('WrongPassphrase', 'The archive was sealed with another passphrase')
    }
    return new ArchiveSeal(key, header)
  }

  /** `context` says what the secret is; the same words open it, others do not. Base64. */
  seal(context: string, secret: Uint8Array): string {
    return encrypt(this.#key, context, secret).toString('base64')
  }

  unseal(context: string, sealed: string): Buffer {
    const secret = decrypt(this.#key, context, Buffer.from(sealed, 'base64'))
    if (secret === undefined) throw invalidArchive(`its secret "${context}" does not open`)
    return secret
  }
}

const keyOf = (passphrase: string, salt: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, COST, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
