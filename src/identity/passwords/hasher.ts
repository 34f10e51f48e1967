import { availableParallelism } from 'node:os'

import { hash, verify } from '@node-rs/argon2'
import { LRUCache } from 'lru-cache'

import { keyIdOf, withoutKeyId } from './hash-keys.ts'
import { SignInLimiter } from './sign-in-limiter.ts'

/** argon2id, version 19, is what the library does when nothing else is asked for. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const PREFIX = '$argon2id$v=19$m=19456,t=2,p=1$'
/** The hash of no password: checking an account that has none costs the same as any other check. */
const DUMMY_HASH = `${PREFIX}Y3JvZnQtbm8tYWNjb3VudA$Y3JvZnQtbm8tYWNjb3VudC1oYXMtdGhpcy1oYXNoISE`
/** Under Node the work shares four threads with the file system and DNS. */
const NODE_THREADS = 4
const QUEUE = { maxQueued: 128, maxQueuedInAll: 512 }
const MAX_OTHER_KEYS = 1000

/** argon2id with a key of the instance, which a stolen database does not hold; a few at a time, off the event loop. */
export class PasswordHasher {
  readonly #secret: Uint8Array
  /** Of other installations, by the names that hashes have for them. */
  readonly #otherKeys = new LRUCache<string, Uint8Array>({ max: MAX_OTHER_KEYS })
  readonly #limiter: SignInLimiter

  constructor(deps: { readonly secret: Uint8Array; readonly concurrency?: number }) {
    this.#secret = deps.secret
    const permits = deps.concurrency ?? defaultConcurrency()
    this.#limiter = new SignInLimiter({ permits, ...QUEUE })
  }

  /** `address` is that of the client that sets it. */
  hash(password: string, address: string): Promise<string> {
    return this.#limiter.run(address, () =>
      hash(normalizePassword(password), { ...COST, secret: this.#secret }),
    )
  }

  /** The key that a hash lacks before it can be verified; undefined when none is lacking. */
  lackingKey(stored: string): string | undefined {
    const keyId = keyIdOf(stored)
    return keyId === undefined || this.#otherKeys.has(keyId) ? undefined : keyId
  }

  learnKey(keyId: string, key: Uint8Array): void {
    this.#otherKeys.set(keyId, key)
  }

  /** The same work without a stored hash, or without its key, and then never true. */
  verify(stored: string | undefined, password: string, address: string): Promise<boolean> {
    return this.#limiter.run(address, async () => {
      const keyId = stored === undefined ? undefined : keyIdOf(stored)
      const otherKey = keyId === undefined ? undefined : this.#otherKeys.get(keyId)
      const hashed = stored === undefined ? DUMMY_HASH : withoutKeyId(stored)
      const same = await verify(hashed, normalizePassword(password), {
        secret: otherKey ?? this.#secret,
      })
      return same && stored !== undefined
    })
  }

  /** Whether a stored hash was made at another cost than today's, or with the key of another installation. */
  isOutdated(stored: string): boolean {
    return !stored.startsWith(PREFIX)
  }
}

/** One spelling for what looks and is typed the same (RFC 8265): keyboards differ in how they compose letters. */
export const normalizePassword = (password: string): string => password.normalize('NFC')

function defaultConcurrency(): number {
  const threads = process.versions['bun'] === undefined ? NODE_THREADS - 1 : Infinity
  return Math.max(1, Math.min(availableParallelism(), threads))
}
