/**
 * What the functions of a site are given, for editors and type checkers.
 *
 * ```ts
 * import type { Handler } from 'croft'
 *
 * const read: Handler<{ id: string }> = async ({ payload }, { table }) => {
 *   const { item } = await table('notes').get({ key: { id: payload.id } })
 *   return item
 * }
 * export default read
 * ```
 */

import type { Bucket } from './bucket.d.ts'
import type { Item, Table } from './table.d.ts'

export type * from './bucket.d.ts'
export type * from './table.d.ts'

/** `export default` of a function's module. What it returns is sent as JSON; `undefined` is sent as `null`. */
export type Handler<Payload = unknown, Result = unknown> = (
  input: Input<Payload>,
  ctx: Context,
) => Result | Promise<Result>

/**
 * The other form of a module: `export default { fetch }`. With `"http": true` on its operation it is given every request at
 * `/data/{operation}` and below, and its response goes out as it is; without, both are what the JSON envelope carries.
 */
export interface FetchHandler {
  fetch(request: Request, ctx: Context): Response | Promise<Response>
}

export interface Input<Payload = unknown> {
  /** What the caller sent as `payload`; not checked. */
  readonly payload: Payload
  /** Null for a caller without a token, and for a job of the site itself. */
  readonly auth: Auth | null
  readonly operation: string
  /** The same in the logs and in the answer's `X-Request-Id`. */
  readonly requestId: string
  readonly site: { readonly siteId: string; readonly siteDomain: string }
}

export interface Auth {
  readonly sub: string
  readonly username: string
  readonly groups: readonly string[]
}

/**
 * What a function may use beside its input. It belongs to one call: once that is over, everything but `env` and `log`
 * rejects with `CallOver`. It may be destructured. Every method rejects with a `HostError`.
 */
export interface Context {
  /** As in `Input`; for `fetch`, which has no other. */
  readonly auth: Auth | null
  readonly requestId: string
  /** The path of the operation, above what a router of its own looks at: `/data/shop`, or `/data/public/shop`. */
  readonly basePath: string
  /**
   * Goes on with what the promise does after the answer, as part of the call: with its rights, within its time, on its
   * site's account. What it rejects with is logged. It ends with the process that it runs in, and is not started again: what
   * must not be lost is a job. At most 256 at once.
   */
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** The environment variables that the function names in `config.environment`; without a prototype: `'NAME' in env`. */
  readonly env: Readonly<Record<string, string>>
  /** A line of the site's log, counted on this call. */
  readonly log: Log
  /** A table that the function was granted in `config.resources`. */
  readonly table: <Row extends object = Item>(name: string) => Table<Row>
  /** A bucket that the function was granted in `config.resources`. */
  readonly bucket: (name: string) => Bucket
  /**
   * Sends from `no-reply@` the site's domain, to each recipient by itself. Acknowledged means kept: it is sent, or seen to
   * fail. A site reaches 500 recipients an hour, 100 of them for strangers of one network (`TooManyRequests`).
   *
   * With a `mailbox` it sends as that mailbox of the site, to all recipients at once: the message is filed in its `SENT`, and
   * answers come there. `MailboxNotFound`, `MailboxDisabled`, or what is wrong with the attachments.
   */
  readonly sendEmail: {
    (message: MailboxEmail): Promise<SentMailboxEmail>
    (message: Email): Promise<SentEmail>
  }
  /**
   * Calls another operation of the site as this call's caller, and gives its `data`. Its own rule admits the caller, as
   * at `/data/{name}`; without a token that is what `/data/public/{name}` serves. The scopes of its token bound what an application asks for itself,
   * not what the function calls then. At most eight deep.
   */
  readonly operation: <Result = unknown>(name: string, payload?: unknown) => Promise<Result>
}

export interface Log {
  (...values: unknown[]): void
  debug(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}

/**
 * A refusal: `code` says which, such as `ConditionalCheckFailed`, `ValidationError`, `Forbidden`, `ObjectNotFound`,
 * `TooManyRequests`. Only the site's log shows one that is not caught: the caller reads `OperationFailed`. To tell the caller
 * something, throw `{ statusCode, code, message }` of your own with a status from 400 to 499.
 */
export interface HostError extends Error {
  readonly code: string
  readonly statusCode: number
  readonly details?: readonly { readonly field: string; readonly message: string }[]
  readonly retryable?: boolean
  readonly retryAfterSeconds?: number
  /** The item that failed a condition, with `returnValuesOnConditionCheckFailure: 'ALL_OLD'`. */
  readonly item?: Item
  /** Which limit was met, and how. */
  readonly limit?: { readonly name: string; readonly value: number; readonly used?: number }
}

export interface Email {
  /** At most 50. */
  readonly to: string | readonly string[]
  /** One line of at most 998 characters. */
  readonly subject: string
  /** `text`, `html` or both, each at most 1 MiB. */
  readonly text?: string
  readonly html?: string
  readonly replyTo?: string
}

/** At most 10 files of 10 MiB each and 15 MiB together, or a `raw` message of 25 MiB; give the function memory for three times as much. */
export interface MailboxEmail {
  /** An address of the site, like `info@shop.test`. */
  readonly mailbox: string
  /** `ann@example.org` or `Ann Lee <ann@example.org>`; at most 100 with `cc` and `bcc`. */
  readonly to: string | readonly string[]
  readonly cc?: readonly string[]
  readonly bcc?: readonly string[]
  /** One line of at most 998 characters. */
  readonly subject: string
  /** `text`, `html` or both, or `raw` instead. */
  readonly text?: string
  readonly html?: string
  readonly replyTo?: string
  /** At most 10. */
  readonly attachments?: readonly {
    readonly filename: string
    readonly contentType: string
    readonly contentBase64: string
  }[]
  /** In base64: a whole message (RFC 5322) from the mailbox, sent as it is to the recipients that are named here. */
  readonly raw?: string
  /** The same key with the same message within a day sends it once: for jobs that may run again. */
  readonly idempotencyKey?: string
}

export interface SentMailboxEmail extends SentEmail {
  /** Of the message in `SENT`. */
  readonly id: string
  readonly threadId: string
}

export interface SentEmail {
  /** Of the first recipient's message. */
  readonly messageId: string
  /** One for each recipient, in their order, those that came twice left out. */
  readonly messageIds: readonly string[]
}
