import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'

import type * as Argon2 from '@node-rs/argon2'

/** The library itself: in the tests of services its name leads to this file. */
const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as typeof Argon2

const FULL = '$m=19456,t=2,p=1$'
const LEAST = '$m=8,t=1,p=1$'
const LEAST_COST = { memoryCost: 8, timeCost: 1 }
/** Begins the salts of hashes that were made at the least cost, and that of the hash of no password. */
const MARK = Buffer.from('croft-')
const MARKED = `${FULL}${MARK.toString('base64')}`

/**
 * A hash at the service's cost says so, but was made at the least there is: most tests sign in, and a hundredth of them
 * are about hashes. One at any other cost is the library's, and so are those of other processes.
 */
export async function hash(password: string, options: Argon2.Options): Promise<string> {
  if (options.memoryCost !== 19_456) return argon2.hash(password, options)
  const salt = Buffer.concat([MARK, randomBytes(10)])
  return (await argon2.hash(password, { ...options, ...LEAST_COST, salt })).replace(LEAST, FULL)
}

export const verify = (
  stored: string,
  password: string,
  options: Argon2.Options,
): Promise<boolean> =>
  argon2.verify(stored.includes(MARKED) ? stored.replace(FULL, LEAST) : stored, password, options)
