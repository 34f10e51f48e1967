/** A tenant. Everything the service stores belongs to exactly one. */
export interface Site {
  readonly siteId: string
  readonly domain: string
  readonly region: string
}
