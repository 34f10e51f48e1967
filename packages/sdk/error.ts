export interface CroftErrorFields {
  readonly code: string
  readonly status: number
  readonly requestId?: string | undefined
  readonly details?: unknown
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/**
 * A call that failed. `code` is the service's, or one of the client's own: `NetworkError` (no response), `UnexpectedRedirect`,
 * `UnexpectedResponse` (the response is not the service's) and `InvalidInput` (nothing was sent). What is too large fails as the
 * service would refuse it, before it is sent.
 */
export class CroftError extends Error {
  readonly code: string
  /** HTTP's status; 0 where there was no answer. */
  readonly status: number
  /** Names the request in the service's log. */
  readonly requestId: string | undefined
  /** What is wrong, field by field, where the service says so. */
  readonly details: unknown
  /** Seconds after which a repetition may succeed. */
  readonly retryAfter: number | undefined

  constructor(message: string, fields: CroftErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.name = 'CroftError'
    this.code = fields.code
    this.status = fields.status
    this.requestId = fields.requestId
    this.details = fields.details
    this.retryAfter = fields.retryAfter
  }
}

/** What was to be sent cannot be: nothing was. */
export const invalidInput = (message: string): CroftError =>
  new CroftError(message, { code: 'InvalidInput', status: 0 })

/** There was no response from the origin of `url`. */
export const networkError = (cause: unknown, url: string): CroftError =>
  new CroftError(`The service cannot be reached at ${new URL(url).origin}`, {
    code: 'NetworkError',
    status: 0,
    cause,
  })

/** The error that a response reports, in the words of the service if they are there. */
export async function errorOf(response: Response): Promise<CroftError> {
  const told = errorIn(await response.text().catch(() => ''))
  const { code, message, requestId, details } = told
  return new CroftError(
    typeof message === 'string' ? message : `The service answered ${response.status}`,
    {
      code: typeof code === 'string' ? code : 'UnexpectedResponse',
      status: response.status,
      requestId:
        typeof requestId === 'string'
          ? requestId
          : (response.headers.get('x-request-id') ?? undefined),
      details,
      retryAfter: retryAfterOf(response, Date.now()),
    },
  )
}

/** Seconds to wait, of either form of `Retry-After` (RFC 9110 §10.2.3). */
function retryAfterOf({ headers }: Response, now: number): number | undefined {
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

function errorIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const { error }: { error?: unknown } = JSON.parse(text) ?? {}
    return typeof error === 'object' && error !== null ? { ...error } : {}
  } catch {
    return {}
  }
}
