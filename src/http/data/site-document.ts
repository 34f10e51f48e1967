import { ComponentSchemas } from '#http/openapi/component-schemas.ts'
import {
  type OpenApiDocument,
  openApiDocument,
  type OperationObject,
  type PlacedOperation,
} from '#http/openapi/document.ts'
import { errorResponses } from '#http/openapi/error-responses.ts'
import type { CheckedSchema } from '#runtime/operations/schemas/json-schema.ts'
import type { PublishedOperation } from '#runtime/published/published-site.ts'

import { embeddedSchema } from './embedded-schema.ts'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
const TAG = 'operations'
const VISITOR = {
  visitorToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token of the site’s visitors, of `/data/auth/config`.',
  },
} as const
const ERRORS = ['InvalidPayload', 'OperationNotFound', 'OperationFailed'] as const
const SIGNED_IN_ERRORS = [...ERRORS, 'Unauthorized', 'Forbidden'] as const

interface DocumentedSite {
  readonly domain: string
  readonly revision: number
  /** Those that the reader may call. */
  readonly operations: readonly PublishedOperation[]
  readonly isVisitor: boolean
}

/** What a site's visitors can call, as OpenAPI. A name that the reader could not call is not in it. */
export function siteDocument(site: DocumentedSite): OpenApiDocument {
  const schemas = new ComponentSchemas()
  const operations = site.operations.flatMap((operation) => [
    ...(operation.auth.mode === 'public' ? placed(operation, schemas, true) : []),
    ...(site.isVisitor ? placed(operation, schemas, false) : []),
  ])
  return openApiDocument({
    info: {
      title: site.domain,
      description: 'What visitors of the site can call.',
      version: String(site.revision),
    },
    operations,
    schemas,
    securitySchemes: site.isVisitor ? VISITOR : {},
  })
}

function placed(
  operation: PublishedOperation,
  schemas: ComponentSchemas,
  isOpen: boolean,
): PlacedOperation[] {
  const { name, http } = operation
  const path = isOpen ? `/data/public/${name}` : `/data/${name}`
  // No name of an operation has a dot in it.
  const id = isOpen ? `public.${name}` : name
  const security = isOpen ? [] : [{ visitorToken: [...operation.scopes] }]
  if (!http) {
    const described = jsonOperation(operation, schemas, isOpen)
    return [{ method: 'post', path, operation: { operationId: id, security, ...described } }]
  }
  const described = httpOperation(schemas)
  return METHODS.map((method) => ({
    method,
    path,
    operation: { operationId: `${id}.${method}`, security, ...described },
  }))
}

type Described = Omit<OperationObject, 'operationId' | 'security'>

function jsonOperation(
  { name, input, output }: PublishedOperation,
  schemas: ComponentSchemas,
  isOpen: boolean,
): Described {
  const payload = named(schemas, `${name}.input`, input)
  const data = named(schemas, `${name}.output`, output)
  const body = {
    type: 'object',
    ...(input ? { required: ['payload'] } : {}),
    properties: { payload },
    additionalProperties: false,
  }
  const envelope = {
    type: 'object',
    required: ['ok', 'data'],
    properties: { ok: { const: true }, data },
  }
  return {
    tags: [TAG],
    requestBody: {
      required: input !== undefined,
      content: { 'application/json': { schema: body } },
    },
    responses: {
      200: {
        description: 'What it returned.',
        content: { 'application/json': { schema: envelope } },
      },
      ...errorResponses(schemas, isOpen ? ERRORS : SIGNED_IN_ERRORS, 'envelope'),
    },
  }
}

const httpOperation = (schemas: ComponentSchemas): Described => ({
  description: 'Its function answers HTTP itself: every method here, and every path below.',
  tags: [TAG],
  responses: errorResponses(schemas, [], 'envelope'),
})

/** A reference to the schema; any value where there is none. */
function named(schemas: ComponentSchemas, name: string, given: CheckedSchema | undefined) {
  if (!given) return {}
  const embedded = embeddedSchema(given.schema, `#/components/schemas/${name}`)
  return schemas.add(name, typeof embedded === 'object' ? embedded : alwaysOrNever(embedded))
}

const alwaysOrNever = (always: boolean) => (always ? {} : { not: {} })
