import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { programVersion } from '#config/program-version.ts'
import type { AppContext } from '#context'
import { adminAuth } from '#http/plugins/admin-auth.ts'
import { operatorAuth } from '#http/plugins/operator-auth.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'

import { ComponentSchemas } from './component-schemas.ts'
import { describedOperation } from './described-operation.ts'
import { type OpenApiDocument, openApiDocument } from './document.ts'
import { SECURITY_SCHEMES } from './route-access.ts'
import { ServedDocument } from './served-document.ts'

type Declarations = () => readonly RouteDeclaration[]

const Document = Type.Unsafe<Response>(
  Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
)

const ADMIN = {
  title: 'Administration of a site',
  description:
    'What the admins of one site can call, at the site’s own domain. The role that a route asks for is its `x-required-role`.',
} as const
const PORTAL = {
  title: 'Operation of an installation',
  description:
    'What the operator can call, for each site of the installation. Where a deploy token suffices, its scopes are `x-deploy-token-scopes`.',
} as const

/** The document of the routes of `/admin`, of all that are declared. */
export const adminDocument = (declared: readonly RouteDeclaration[], version: string) =>
  routesDocument(declared, { prefix: '/admin', info: { ...ADMIN, version } })

/** The document of the routes of `/portal`. */
export const portalDocument = (declared: readonly RouteDeclaration[], version: string) =>
  routesDocument(declared, { prefix: '/portal', info: { ...PORTAL, version } })

/** What admins of a site can call, for programs. */
export const adminDocumentRoutes = (context: AppContext, declared: Declarations) => {
  const document = new ServedDocument(async () => adminDocument(declared(), await programVersion()))
  return new Elysia({ prefix: '/admin' })
    .use(adminAuth(context))
    .get('/openapi.json', async ({ request }) => document.responseTo(request), {
      role: 'user',
      summary: 'Get the OpenAPI document of this API',
      response: Document,
      responds: 'unmodified',
    })
}

/** What the operator can call, for programs. */
export const portalDocumentRoutes = (context: AppContext, declared: Declarations) => {
  const document = new ServedDocument(async () =>
    portalDocument(declared(), await programVersion()),
  )
  return new Elysia({ prefix: '/portal/api' })
    .use(operatorAuth(context))
    .get('/openapi.json', async ({ request }) => document.responseTo(request), {
      operator: true,
      summary: 'Get the OpenAPI document of this API',
      response: Document,
      responds: 'unmodified',
    })
}

/** The document of the routes whose paths begin so. What refuses every request is none of them. */
function routesDocument(
  declared: readonly RouteDeclaration[],
  { prefix, info }: { readonly prefix: string; readonly info: OpenApiDocument['info'] },
): OpenApiDocument {
  const schemas = new ComponentSchemas()
  const operations = declared
    .filter(({ path, detail }) => isBelow(path, prefix) && detail['x-response'] !== 'refusal')
    .map((route) => describedOperation(route, schemas))
  const asked = new Set(
    operations.flatMap(({ operation }) => operation.security.flatMap(Object.keys)),
  )
  const securitySchemes = Object.fromEntries(
    Object.entries(SECURITY_SCHEMES).filter(([name]) => asked.has(name)),
  )
  return openApiDocument({ info, operations, schemas, securitySchemes })
}

const isBelow = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(`${prefix}/`)
