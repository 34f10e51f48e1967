import { type JSONWebKeySet, type JWTVerifyGetKey, createLocalJWKSet } from 'jose'

import type { Clock } from '#base/clock.ts'
import { LoadingCache } from '#base/loading-cache.ts'

import { ProviderFault, untrusted } from './provider-fault.ts'
import type { ProviderHttp } from './provider-http.ts'
import { type ProviderMetadata, discoveryUrl, parseProviderMetadata } from './provider-metadata.ts'

const MAX_ENTRIES = 1_000
const METADATA_AGE_MS = 60 * 60_000
const KEYS_AGE_MS = 10 * 60_000
/** How often tokens with an unknown key may make us load the keys again. */
const REFRESH_AFTER_MS = 10_000
const MAX_KEYS = 50

interface LoadedKeys {
  readonly find: JWTVerifyGetKey
  readonly loadedAtMs: number
}

/** Caches the metadata and keys that providers publish. */
export class ProviderDocuments {
  readonly #http: ProviderHttp
  readonly #nowMs: () => number
  readonly #metadata: LoadingCache<string, ProviderMetadata>
  readonly #keys: LoadingCache<string, LoadedKeys>

  constructor(http: ProviderHttp, clock: Clock) {
    this.#http = http
    this.#nowMs = () => clock.now().getTime()
    const bounds = { max: MAX_ENTRIES, perf: { now: this.#nowMs }, ttlResolution: 0 }
    this.#metadata = new LoadingCache({ entries: { ...bounds, ttl: METADATA_AGE_MS } })
    this.#keys = new LoadingCache({ entries: { ...bounds, ttl: KEYS_AGE_MS } })
  }

  async metadata(issuer: string): Promise<ProviderMetadata> {
    return this.#metadata.get(issuer, async () =>
      parseProviderMetadata(issuer, await this.#http.send({ url: discoveryUrl(issuer), issuer })),
    )
  }

  async keys(metadata: ProviderMetadata): Promise<JWTVerifyGetKey> {
    const { find } = await this.#keys.get(keyOf(metadata), () => this.#loadKeys(metadata))
    return find
  }

  /** The keys after a rotation at the provider; undefined when the cached ones were loaded just now. */
  async newerKeys(metadata: ProviderMetadata): Promise<JWTVerifyGetKey | undefined> {
    const kept = this.#keys.getIfPresent(keyOf(metadata))
    if (kept && this.#nowMs() - kept.loadedAtMs < REFRESH_AFTER_MS) return undefined
    const { find } = await this.#keys.refresh(keyOf(metadata), () => this.#loadKeys(metadata))
    return find
  }

  async #loadKeys({ jwksUri: url, issuer }: ProviderMetadata): Promise<LoadedKeys> {
    const { status, json } = await this.#http.send({ url, issuer })
    if (status !== 200) {
      throw new ProviderFault('unreachable', `The keys of "${issuer}" answer ${status}`)
    }
    return { find: keySetOf(issuer, json), loadedAtMs: this.#nowMs() }
  }
}

const keyOf = ({ issuer, jwksUri }: ProviderMetadata): string => `${issuer} ${jwksUri}`

function keySetOf(issuer: string, json: Readonly<Record<string, unknown>>): JWTVerifyGetKey {
  const { keys } = json
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) {
    throw untrusted(`The keys of "${issuer}" are no key set of at most ${MAX_KEYS} keys`)
  }
  // Neither secret nor private keys belong into a public document.
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
