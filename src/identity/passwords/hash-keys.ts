import { createHash } from 'node:crypto'

/** What the key of this installation is derived for. */
export const PASSWORD_KEY = 'passwords'

const KEY_ID_BYTES = 8
const KEY_ID = /,keyid=([A-Za-z0-9+/]{1,22})\$/

/** The name of a key that passwords are hashed with: it tells nothing of the key. */
export const hashKeyId = (key: Uint8Array): string =>
  createHash('sha256')
    .update('password-key')
    .update(key)
    .digest()
    .subarray(0, KEY_ID_BYTES)
    .toString('base64')
    .replace(/=+$/, '')

/** The key that a hash names; undefined for one of this installation's own. */
export const keyIdOf = (hash: string): string | undefined => KEY_ID.exec(hash)?.[1]

/** The hash as it is when its key is known anyway: what libraries read. */
export const withoutKeyId = (hash: string): string => hash.replace(KEY_ID, '$')

/** The same hash with the name of its key (PHC string format: the last parameter before the salt). */
export const withKeyId = (hash: string, keyId: string): string =>
  hash.replace(/^(\$argon2id\$v=\d+\$[^$,]*(?:,[^$,]*)*)\$/, `$1,keyid=${keyId}$`)

/** What the key of another installation is sealed for, with the key of the site. */
export const passwordKeySealContext = (keyId: string): string => `password-key:${keyId}`
