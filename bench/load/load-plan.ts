/** What one run of the generator does. Plain JSON, so that it can be handed to a process of its own. */
export interface LoadPlan {
  /** `http://127.0.0.1:8080`; only addresses of this machine's loopback are accepted. */
  readonly origin: string
  /** Served in turn, each of them with its bodies in turn. */
  readonly tenants: readonly Tenant[]
  readonly connections: number
  /** Requests per second of an open loop; a closed loop when left out. */
  readonly ratePerSecond?: number
  /** Load that is not measured, before the part that is. */
  readonly warmupMs: number
  readonly durationMs: number
  /** A request without an answer for that long is a failure, and its connection is given up. */
  readonly timeoutMs: number
}

export interface Tenant {
  /** The Host header. */
  readonly host: string
  readonly path: string
  readonly token?: string
  /** JSON texts that are posted to `path`. */
  readonly bodies: readonly string[]
  /** Paths that are read instead, in turn. */
  readonly reads?: readonly string[]
  readonly expect: Expectation
}

export interface Expectation {
  readonly status: number
  /** Length of every body, when all of them are equally long. */
  readonly bodyBytes?: number
  /** Text that the body contains: looked for in a sample of the responses. */
  readonly includes?: string
}

const BOUNDS = [
  ['connections', 1, 4096],
  ['ratePerSecond', 0.1, 200_000],
  ['warmupMs', 0, 60_000],
  ['durationMs', 10, 600_000],
  ['timeoutMs', 10, 60_000],
] as const
const MAX_TENANTS = 1000
const MAX_REQUESTS = 20_000
const PLAIN = /^[\x21-\x7e]+$/

/** The plan is outside what this generator does. */
export class InvalidLoadPlan extends Error {
  override readonly name = 'InvalidLoadPlan'
}

/** Address to connect to; throws `InvalidLoadPlan` for any that leaves this machine. */
export function loopbackAddress(origin: string): { host: string; port: number } {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  if (url === undefined || url.protocol !== 'http:') {
    throw new InvalidLoadPlan(`"${origin}" is no http URL, such as http://127.0.0.1:8080`)
  }
  const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname.replace(/^\[|\]$/g, '')
  if (host !== '::1' && !/^127(?:\.\d{1,3}){3}$/.test(host)) {
    throw new InvalidLoadPlan(
      `"${url.hostname}" is not on this machine: load goes to loopback only`,
    )
  }
  return { host, port: Number(url.port || 80) }
}

/** Throws `InvalidLoadPlan` naming the first field that is out of bounds. */
export function checkLoadPlan(plan: LoadPlan): void {
  loopbackAddress(plan.origin)
  for (const [name, min, max] of BOUNDS) {
    const value = plan[name]
    if (value !== undefined && !(value >= min && value <= max)) {
      throw new InvalidLoadPlan(`${name} must be between ${min} and ${max}, not ${value}`)
    }
  }
  if (!Number.isInteger(plan.connections)) throw new InvalidLoadPlan('connections must be whole')
  checkTenants(plan.tenants)
}

/** The bytes of one request, ready to be sent any number of times. */
export function requestBytes({ host, path, token }: Tenant, body: string): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

/** The same for reading a path. */
export function readBytes({ host }: Pick<Tenant, 'host'>, path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\n\r\n`)
}

const requestsOf = ({ bodies, reads = [] }: Tenant): number => bodies.length + reads.length

function checkTenants(tenants: readonly Tenant[]): void {
  const requests = tenants.reduce((sum, tenant) => sum + requestsOf(tenant), 0)
  if (requests === 0 || tenants.length > MAX_TENANTS || requests > MAX_REQUESTS) {
    throw new InvalidLoadPlan(`1 to ${MAX_TENANTS} tenants and ${MAX_REQUESTS} bodies are possible`)
  }
  for (const tenant of tenants) checkTenant(tenant)
}

function checkTenant(tenant: Tenant): void {
  for (const name of ['host', 'path', 'token'] as const) {
    const word = tenant[name]
    if (word !== undefined && !PLAIN.test(word)) {
      throw new InvalidLoadPlan(`the ${name} is not valid in a request head: ASCII without spaces`)
    }
  }
  const wrong = tenant.reads?.find((read) => !PLAIN.test(read))
  if (wrong !== undefined) {
    throw new InvalidLoadPlan(`"${wrong}" cannot be read: ASCII without spaces`)
  }
  if (requestsOf(tenant) === 0) throw new InvalidLoadPlan(`tenant "${tenant.host}" has no body`)
}
