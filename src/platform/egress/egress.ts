import type { MemoryLease } from '#base/memory-budget.ts'

/** The one way out for site code. Plain data both ways: it crosses the sandbox protocol. */
export interface Egress {
  /** Rejects with an Error whose message is safe for site code: refused host, private address, size, time. */
  fetch(request: EgressRequest, policy: EgressPolicy, signal: AbortSignal): Promise<EgressResponse>
}

export interface EgressRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [string, string])[]
  readonly bodyBase64?: string
  readonly redirect: 'follow' | 'manual' | 'error'
}

export interface EgressResponse {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly redirected: boolean
  readonly headers: readonly (readonly [string, string])[]
  readonly bodyBase64: string
}

export interface EgressPolicy {
  /** `host`, `host:port`, `*.domain`, or `*` for every public host. Private, loopback and link-local addresses are never reached. */
  readonly allow: readonly string[]
  readonly maxResponseBytes: number
  readonly timeoutMs: number
  /** Where the body of a response is held; without it only `maxResponseBytes` bounds it. */
  readonly memory?: MemoryLease
}
