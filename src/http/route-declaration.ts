import type { TSchema } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'

import { type SchemasByStatus, schemasByStatus } from './plugins/response-kinds.ts'

/** What one route declares. */
export interface RouteDeclaration {
  readonly method: string
  readonly path: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly params?: TSchema | undefined
  readonly query?: TSchema | undefined
  readonly body?: TSchema | undefined
  /** Of the JSON that it responds with. */
  readonly schemas?: SchemasByStatus
}

/** What Elysia keeps of a declaration. */
interface Hooks {
  readonly detail?: Readonly<Record<string, unknown>>
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  readonly response?: TSchema | SchemasByStatus
}

export const routeDeclarations = ({ routes }: AnyElysia): RouteDeclaration[] =>
  routes.map(({ method, path, hooks }) => {
    const { detail = {}, params, query, body, response }: Hooks = hooks ?? {}
    return { method, path, detail, params, query, body, schemas: schemasByStatus(response) }
  })
