import { KindGuard, type TSchema } from '@sinclair/typebox'

interface Kind {
  readonly status: number
  /** None: the response has no body. */
  readonly mediaTypes: readonly string[]
}

/** What routes respond with that is not JSON. A route that responds with JSON declares its schema as `response`. */
export const RESPONSE_KINDS = {
  'no-content': { status: 204, mediaTypes: [] },
  /** A page for people, or a redirect (303) to one. */
  page: { status: 200, mediaTypes: ['text/html'] },
  events: { status: 200, mediaTypes: ['text/event-stream'] },
  /** JSON, one value a line, while the request is carried out. */
  'json-lines': { status: 200, mediaTypes: ['application/x-ndjson'] },
  picture: { status: 200, mediaTypes: ['image/png', 'image/jpeg', 'image/webp'] },
  archive: { status: 200, mediaTypes: ['application/gzip'] },
  /** Beside JSON: the client has it (`If-None-Match`). */
  unmodified: { status: 304, mediaTypes: [] },
  /** Refuses every request. */
  refusal: { status: 404, mediaTypes: ['application/json'] },
} as const satisfies Readonly<Record<string, Kind>>
export type ResponseKind = keyof typeof RESPONSE_KINDS

export const isResponseKind = (name: unknown): name is ResponseKind =>
  typeof name === 'string' && Object.hasOwn(RESPONSE_KINDS, name)

/** The schemas of the JSON that a route responds with. */
export type SchemasByStatus = Readonly<Record<string, TSchema>>

export interface ResponseDetail {
  readonly 'x-response': ResponseKind
}

/** Marks a route in the table. For a route that admits its callers itself; the others name `responds` beside their authority. */
export const responseDetail = (kind: ResponseKind): ResponseDetail => ({ 'x-response': kind })

/** Reads the `response` of a route: one schema is that of a 200. */
export function schemasByStatus(
  response: TSchema | SchemasByStatus | undefined = {},
): SchemasByStatus {
  return KindGuard.IsSchema(response) ? { 200: response } : response
}
