import type { ErrorCode } from './error-status.ts'

/** Things that are looked up by name or id; each has its own `…NotFound` code. */
type Thing = {
  [Code in ErrorCode]: Code extends `${infer Name}NotFound` ? Name : never
}[ErrorCode]

/** A text that people read in their language; as text it is English. */
export interface DisplayText {
  toString(): string
}

/** One fault of one field, as a form would show it. */
export interface FieldFault {
  readonly field: string
  readonly message: string
  /** The message for people; programs are not sent it. */
  readonly text?: DisplayText
}

export interface AppErrorOptions extends ErrorOptions {
  readonly details?: readonly FieldFault[]
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Public fields that the error body carries beside code and message. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Only for `OperationRejected`: the 4xx status and code that the site's own function threw. */
  readonly thrown?: { readonly statusCode: number; readonly code: string }
  /** Its cause was logged where it was found: a part that is away for a while, which everything that needs it meets. */
  readonly isLogged?: boolean
}

/**
 * An expected failure. Its message is safe to show; anything private belongs in `cause`. One that people meet on a page is given
 * in all languages.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly text: DisplayText | undefined
  readonly details: readonly FieldFault[] | undefined
  readonly retryAfterSeconds: number | undefined
  readonly fields: Readonly<Record<string, unknown>> | undefined
  readonly thrown: AppErrorOptions['thrown']
  readonly isLogged: boolean

  constructor(code: ErrorCode, message: string | DisplayText, options: AppErrorOptions = {}) {
    super(String(message), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.text = typeof message === 'string' ? undefined : message
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fields = options.fields
    this.thrown = options.thrown
    this.isLogged = options.isLogged ?? false
  }
}

export const notFound = (thing: Thing, name: string): AppError =>
  new AppError(`${thing}NotFound`, `${thing} "${name}" does not exist`)

/** Whether something that was needed was away, or too busy. */
export const isServiceUnavailable = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'ServiceUnavailable'

/** A `ValidationError` about one field. */
export const invalid = (field: string, message: string | DisplayText): AppError =>
  new AppError('ValidationError', `${field}: ${String(message)}`, {
    details: [faultOf(field, message)],
  })

export const faultOf = (field: string, message: string | DisplayText): FieldFault =>
  typeof message === 'string'
    ? { field, message }
    : { field, message: String(message), text: message }
