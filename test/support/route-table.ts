import {
  type ResponseKind,
  type SchemasByStatus,
  isResponseKind,
} from '#http/plugins/response-kinds.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'

/** What one route declares, as a row of the table. */
export interface RouteRow {
  /** Method and path. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly gate: string | undefined
  /** `both`: its declaration is mounted for admins of a site and for the operator. */
  readonly mount: string | undefined
  readonly authority: string | undefined
  /** What the audit trail says of it, or why it says nothing. */
  readonly audit: readonly string[] | string | undefined
  readonly effects: readonly string[] | undefined
  /** What in the request proves the caller, instead of a recent sign-in. */
  readonly proof: string | undefined
  readonly schemas: SchemasByStatus
  /** What it responds with that is not JSON. */
  readonly responds: ResponseKind | undefined
  /** What it does. */
  readonly summary: string | undefined
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])
const KEYS = /^(?:operator|repository$|deploy-token:)/
const SIGN_INS = /^(?:role:|visitor$)/

/** The rows of the routes, by path; a route that is mounted twice is one row. */
export function routeRows(routes: readonly RouteDeclaration[]): RouteRow[] {
  const rows = routes.map(({ method, path: declared, detail, schemas = {} }) => {
    const path = declared.replace(/(?<=.)\/$/, '')
    return {
      name: `${method} ${path}`,
      method,
      path,
      gate: gateOf(detail['x-page']),
      mount: text(detail['x-mount']),
      authority: text(detail['x-authority']),
      audit: namesOr(detail['x-audit']),
      effects: Array.isArray(detail['x-effects']) ? detail['x-effects'].map(String) : undefined,
      proof: text(detail['x-proof']),
      schemas,
      responds: isResponseKind(detail['x-response']) ? detail['x-response'] : undefined,
      summary: text(detail['summary']),
    }
  })
  return [...new Map(rows.map((row) => [row.name, row])).values()].toSorted(
    (a, b) => compare(a.path, b.path) || compare(a.method, b.method),
  )
}

export const isChanging = ({ method }: RouteRow): boolean => !READING.has(method)

/** What the caller of a route with effects shows beside a credential; undefined where the route has none, or asks for nothing. */
export function stepUpOf({ authority = '', effects = [], proof }: RouteRow): string | undefined {
  if (effects.length === 0) return undefined
  if (proof !== undefined) return proof
  if (KEYS.test(authority)) return 'the key itself'
  return SIGN_INS.test(authority) ? 'a sign-in of the last 15 minutes' : undefined
}

/** What a page admits beside navigations and its own forms comes after it. */
const gateOf = (page: unknown): string | undefined =>
  page === undefined ? undefined : ['page', ...Object.keys(Object(page))].join(', ')

const namesOr = (value: unknown): readonly string[] | string | undefined =>
  Array.isArray(value) ? value.map(String) : text(value)

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
