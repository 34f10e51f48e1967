import type { TSchema } from '@sinclair/typebox'

import {
  type ResponseKind,
  type SchemasByStatus,
  schemasByStatus,
} from '#http/plugins/response-kinds.ts'
import { routes } from '#http/routes.ts'
import { declaringContext } from '#scripts/declaring-context.ts'

import { schemaType } from './schema-type.ts'

/** Where the types of the admin routes are kept, from the repository's root. */
export const ADMIN_ROUTES_FILE = 'packages/sdk/admin-routes.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Forms for people, and the refusal of actions that do not exist. */
const NOT_FOR_PROGRAMS =
  /^(?:[A-Z]+ \/admin\/public\/onboarding\/.*|POST \/admin\/public\/forwarding\/.*|.*\/:action)$/

interface Declaration {
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  readonly response?: TSchema | SchemasByStatus
  readonly detail?: {
    readonly summary?: string
    readonly 'x-request-body'?: { readonly kind: string }
    readonly 'x-response'?: ResponseKind
  }
}

interface Route {
  readonly method: string
  readonly path: string
  readonly hooks: Declaration | undefined
}

/** The admin API as TypeScript, from what its routes declare. */
export function adminRoutesSource(): string {
  const table: readonly Route[] = routes(declaringContext()).routes
  const admin = table.filter(
    ({ method, path }) => path.startsWith('/admin/') && !NOT_FOR_PROGRAMS.test(`${method} ${path}`),
  )
  const methods = METHODS.map((method) => {
    const entries = admin
      .filter((route) => route.method.toLowerCase() === method)
      .toSorted((a, b) => (pathOf(a.path) < pathOf(b.path) ? -1 : 1))
      .map(
        ({ path, hooks = {} }) => `${comment(hooks)}    "${pathOf(path)}": ${entry(path, hooks)}`,
      )
    return `  readonly ${method}: {\n${entries.join('\n')}\n  }\n`
  })
  return `// Written by "npm run sdk:routes" from the declarations of the routes: do not edit.\n
/** By method and path: what a route of the admin API takes, and what it answers. Dates are texts (RFC 3339). */
export interface AdminRoutes {\n${methods.join('')}}\n`
}

const pathOf = (path: string): string =>
  path.replace(/\/$/, '').replaceAll(/:(\w+)/g, (_all, name: string) => `{${name}}`)

const comment = ({ detail }: Declaration): string =>
  detail?.summary === undefined ? '' : `    /** ${detail.summary}. */\n`

function entry(path: string, { query, body, response, detail }: Declaration): string {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => `readonly ${name}: string`)
  const kind = detail?.['x-request-body']?.kind
  const parts = [
    names.length === 0 ? [] : `params: { ${names.join('; ')} }`,
    query === undefined ? [] : `query${optional(query)}: ${schemaType(query)}`,
    bodyPart(kind, body),
    `response: ${responseType(response, detail?.['x-response'])}`,
  ].flat()
  return `{ ${parts.map((part) => `readonly ${part}`).join('; ')} }`
}

/** The client gives what is not JSON as the `Response` itself. */
function responseType(response: Declaration['response'], kind: ResponseKind | undefined): string {
  const types = Object.values(schemasByStatus(response)).map((schema) => schemaType(schema))
  if (types.length > 0) return [...new Set(types)].join(' | ')
  if (kind === undefined) return 'unknown'
  return kind === 'no-content' ? 'undefined' : 'Response'
}

/** Nothing of it has to be said. */
const optional = (schema: TSchema): string => ((schema['required'] ?? []).length === 0 ? '?' : '')

function bodyPart(kind: string | undefined, body: TSchema | undefined): string[] {
  if (kind === 'optional-json')
    return [`body?: ${body === undefined ? 'unknown' : schemaType(body)}`]
  return body === undefined ? [] : [`body: ${schemaType(body)}`]
}
