import postgres from 'postgres'

import { arrayTypes } from './array-types.ts'

/** postgres.js with the service's types: `bigint` comes as text, `timestamptz` as a Date, `date` as text, `bytea` as a Buffer. */
export type SqlClient = postgres.Sql<ServiceTypes>

/** A client or one of its transactions. */
export type SqlRunner = postgres.ISql<ServiceTypes>

interface ServiceTypes extends Record<string, unknown> {
  json: unknown
  date: Date
  day: string
}

export interface ClientOptions {
  readonly url: string
  /** Connections at most. */
  readonly max: number
  /** Becomes the current role of every connection. */
  readonly role?: string | undefined
  /** Milliseconds that one statement may take; no limit when left out. */
  readonly statementTimeoutMs?: number
  /** The age at which a connection is replaced; about 45 minutes when left out, never when null. */
  readonly maxLifetimeSeconds?: number | null
  /** How long it may take until a new connection is ready; 10 when left out. */
  readonly connectTimeoutSeconds?: number
  /** Closes a connection that was not used for so long; never when left out. */
  readonly idleTimeoutSeconds?: number
  /** A statement that each connection of a pool begins with. */
  readonly beginWith?: string | undefined
  readonly onClose?: () => void
  readonly onNotify?: (channel: string, payload: string) => void
}

/** The pause before connecting again. The driver's own pauses grow to 20 seconds, and every statement waits for them. */
const RECONNECT_SECONDS = 0.25

/** Opens no connection until the first query. */
export function createClient(options: ClientOptions): SqlClient {
  const settings = {
    max: options.max,
    connect_timeout: options.connectTimeoutSeconds ?? 10,
    backoff: () => RECONNECT_SECONDS * (0.5 + Math.random() / 2),
    onnotice: () => {},
    fetch_types: false,
    ...(options.maxLifetimeSeconds !== undefined && { max_lifetime: options.maxLifetimeSeconds }),
    ...(options.idleTimeoutSeconds !== undefined && { idle_timeout: options.idleTimeoutSeconds }),
    ...(options.onClose && { onclose: options.onClose }),
    // Read by the driver, but missing from its types.
    ...(options.onNotify && { onnotify: options.onNotify }),
    connection: {
      application_name: 'croft',
      ...(options.role !== undefined && { role: options.role }),
      ...(options.statementTimeoutMs !== undefined && {
        statement_timeout: options.statementTimeoutMs,
        idle_in_transaction_session_timeout: options.statementTimeoutMs,
      }),
    },
    types: TYPES,
  }
  return postgres(options.url, settings)
}

/** Is true for an error that the server answered. */
export const isAnswer = (error: unknown): error is Error & { readonly severity: unknown } =>
  error instanceof Error && 'severity' in error

/** Postgres's `infinity` has no ISO form: it is read as the end of a Date's range, and written back from it. */
const FOREVER = 8_640_000_000_000_000

const DATE = {
  serialize: (value: unknown) => timestampText(new Date(value as Date | string | number)),
  parse: (text: string) =>
    text === 'infinity' || text === '-infinity'
      ? new Date(text === 'infinity' ? FOREVER : -FOREVER)
      : new Date(text),
}

const TYPES = {
  ...arrayTypes(DATE),
  json: {
    to: 3802,
    from: [114, 3802],
    // Text is JSON already: encoding it again would store a JSON string instead of the object.
    serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
    parse: (text: string): unknown => JSON.parse(text),
  },
  date: {
    to: 1184,
    from: [1114, 1184],
    ...DATE,
  },
  day: {
    to: 1082,
    from: [1082],
    serialize: (value: string) => value,
    parse: (text: string) => text,
  },
}

function timestampText(value: Date): string {
  if (Math.abs(value.getTime()) !== FOREVER) return value.toISOString()
  return value.getTime() > 0 ? 'infinity' : '-infinity'
}
