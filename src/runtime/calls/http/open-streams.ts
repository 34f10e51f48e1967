import { AppError } from '#base/app-error.ts'
import { ipPrefix } from '#base/ip-prefix.ts'

const RETRY_SECONDS = 5
const STREAM_REFUSALS = ['address', 'site', 'replica'] as const
type StreamRefusal = (typeof STREAM_REFUSALS)[number]

/** How many streams may be open on this replica at once; how many of one site, the site's own limits say. */
export interface StreamLimits {
  readonly perReplica: number
  /** An IPv4 address or an IPv6 /64. */
  readonly perAddress: number
}

export interface StreamSource {
  readonly siteId: string
  /** The client's. */
  readonly address: string
  /** The site's limit. */
  readonly openStreams: number
}

/** Counts what a call sends to its client or receives from it as a stream, and so may wait for as long as the client likes. */
export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #sites = new Map<string, number>()
  readonly #addresses = new Map<string, number>()
  readonly #refused = new Map<StreamRefusal, number>()
  #size = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  sizeOf(siteId: string): number {
    return this.#sites.get(siteId) ?? 0
  }

  /** Streams that were refused since the start, by the limit that was met. */
  get refused(): Iterable<readonly [StreamRefusal, number]> {
    return STREAM_REFUSALS.map((limit) => [limit, this.#refused.get(limit) ?? 0] as const)
  }

  /** Counts one more; what it gives ends it, however often it is called. Throws `TooManyRequests` or `OperationOverloaded`. */
  open({ siteId, address, openStreams }: StreamSource): () => void {
    const network = ipPrefix(address)
    const { perReplica, perAddress } = this.#limits
    const ofAddress = this.#addresses.get(network) ?? 0
    if (ofAddress >= perAddress) throw this.#refusal('address', tooManyOfAddress(perAddress))
    if (this.sizeOf(siteId) >= openStreams) throw this.#refusal('site', tooManyOfSite(openStreams))
    if (this.#size >= perReplica) throw this.#refusal('replica', tooManyInAll(perReplica))
    this.#count(siteId, network, 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#count(siteId, network, -1)
      isOpen = false
    }
  }

  #count(siteId: string, network: string, change: 1 | -1): void {
    this.#size += change
    add(this.#sites, siteId, change)
    add(this.#addresses, network, change)
  }

  #refusal(limit: StreamRefusal, error: AppError): AppError {
    this.#refused.set(limit, (this.#refused.get(limit) ?? 0) + 1)
    return error
  }
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

const optionsOf = (name: string, value: number) => ({
  retryAfterSeconds: RETRY_SECONDS,
  fields: { retryable: true, limit: { name, value, used: value } },
})

const tooManyOfAddress = (limit: number): AppError =>
  new AppError(
    'TooManyRequests',
    `This address has ${limit} streams open already (openStreamsPerAddress): close some of them, or try again later`,
    optionsOf('openStreamsPerAddress', limit),
  )

const tooManyOfSite = (limit: number): AppError =>
  new AppError(
    'OperationOverloaded',
    `This site has ${limit} streams open already (openStreams): try again later`,
    optionsOf('openStreams', limit),
  )

const tooManyInAll = (limit: number): AppError =>
  new AppError(
    'OperationOverloaded',
    `This service has ${limit} streams open already (openStreamsPerReplica): try again later`,
    optionsOf('openStreamsPerReplica', limit),
  )
