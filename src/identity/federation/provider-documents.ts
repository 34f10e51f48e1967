import { type JSONWebKeySet, type JWTVerifyGetKey, createLocalJWKSet } from 'jose'

import type { Clock } from '#base/clock.ts'
import { LoadingCache } from '#base/loading-cache.ts'

import { ProviderFault, untrusted } from './provider-fault.ts'
import type { ProviderHttp } from './provider-http.ts'
import { type ProviderMetadata, discoveryUrl, parseProviderMetadata } from './provider-metadata.ts'

const BOUNDS = { entries: { max: 1_000 } }
const METADATA_AGE_MS = 60 * 60_000
const KEYS_AGE_MS = 10 * 60_000
/** How often a token with a key that is not known may make us look again. */
const REFRESH_AFTER_MS = 10_000
const MAX_KEYS = 50

interface LoadedDocument<Document> {
  readonly document: Document
  readonly atMs: number
}

/** What providers publish: metadata and keys, fetched once for all who need them and kept for a while. */
export class ProviderDocuments {
  readonly #http: Pick<ProviderHttp, 'send'>
  readonly #clock: Clock
  readonly #metadata = new LoadingCache<string, LoadedDocument<ProviderMetadata>>(BOUNDS)
  readonly #keys = new LoadingCache<string, LoadedDocument<JWTVerifyGetKey>>(BOUNDS)

  constructor(deps: { http: Pick<ProviderHttp, 'send'>; clock: Clock }) {
    this.#http = deps.http
    this.#clock = deps.clock
  }

  async metadata(issuer: string): Promise<ProviderMetadata> {
    const known = this.#metadata.getIfPresent(issuer)
    if (known && this.#ageMs(known) < METADATA_AGE_MS) return known.document
    const loaded = await this.#metadata.refresh(issuer, async () => {
      const answer = await this.#http.send({ url: discoveryUrl(issuer), issuer })
      return { document: parseProviderMetadata(issuer, answer), atMs: this.#nowMs() }
    })
    return loaded.document
  }

  async keys(metadata: ProviderMetadata): Promise<JWTVerifyGetKey> {
    const known = this.#keys.getIfPresent(keyOf(metadata))
    return known && this.#ageMs(known) < KEYS_AGE_MS ? known.document : this.#loadKeys(metadata)
  }

  /** After a rotation at the provider; undefined when the keys that are known are fresh enough to be believed. */
  async newerKeys(metadata: ProviderMetadata): Promise<JWTVerifyGetKey | undefined> {
    const known = this.#keys.getIfPresent(keyOf(metadata))
    if (known && this.#ageMs(known) < REFRESH_AFTER_MS) return undefined
    return this.#loadKeys(metadata)
  }

  async #loadKeys(metadata: ProviderMetadata): Promise<JWTVerifyGetKey> {
    const loaded = await this.#keys.refresh(keyOf(metadata), async () => {
      const { jwksUri: url, issuer } = metadata
      const { status, json } = await this.#http.send({ url, issuer })
      if (status !== 200) {
        throw new ProviderFault('unreachable', `The keys of "${issuer}" answer ${status}`)
      }
      return { document: keySetOf(issuer, json), atMs: this.#nowMs() }
    })
    return loaded.document
  }

  #ageMs({ atMs }: LoadedDocument<unknown>): number {
    return this.#nowMs() - atMs
  }

  #nowMs(): number {
    return this.#clock.now().getTime()
  }
}

const keyOf = ({ issuer, jwksUri }: ProviderMetadata): string => `${issuer} ${jwksUri}`

function keySetOf(issuer: string, json: Readonly<Record<string, unknown>>): JWTVerifyGetKey {
  const { keys } = json
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) {
    throw untrusted(`The keys of "${issuer}" are no key set of at most ${MAX_KEYS} keys`)
  }
  // A secret key has no business in a public document, nor has a private one.
  const usable = keys.filter(
    (key: unknown): key is JSONWebKeySet['keys'][number] =>
      typeof key === 'object' && key !== null && 'kty' in key && key.kty !== 'oct' && !('d' in key),
  )
  try {
    return createLocalJWKSet({ keys: usable })
  } catch (cause) {
    throw untrusted(`The keys of "${issuer}" are no key set`, { cause })
  }
}
