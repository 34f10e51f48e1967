import { KindGuard, type TSchema } from '@sinclair/typebox'

import { RequestBody } from '#http/bodies/request-body.ts'
import { RESPONSE_KINDS, type ResponseKind, isResponseKind } from '#http/plugins/response-kinds.ts'
import type { RouteDeclaration } from '#http/route-declaration.ts'

import type { ComponentSchemas } from './component-schemas.ts'
import type { OperationObject, PlacedOperation, ResponseObject } from './document.ts'
import { errorResponses } from './error-responses.ts'
import { operationId, operationTag } from './operation-id.ts'
import { accessOf } from './route-access.ts'
import { declaredErrors } from './route-errors.ts'

const COMPUTE = '/admin/data/compute/execute'
const FORM = 'application/x-www-form-urlencoded'
const KIB = 1024

/** What a route declares, as an operation of a document. */
export function describedOperation(
  route: RouteDeclaration,
  schemas: ComponentSchemas,
): PlacedOperation {
  const { method, detail } = route
  const path = route.path.replace(/(?<=.)\/$/, '')
  const { security, about, extensions } = accessOf(route)
  const parameters = parametersOf(route, schemas)
  const requestBody = requestBodyOf(route, schemas)
  const description = [textOf(detail['description']), about].filter(Boolean).join('\n\n')
  const summary = textOf(detail['summary'])
  return {
    method,
    path: path.replaceAll(/:(\w+)/g, '{$1}'),
    operation: {
      operationId: operationId(method, path),
      ...(summary === undefined ? {} : { summary }),
      ...(description === '' ? {} : { description }),
      tags: [operationTag(path)],
      security,
      ...extensions,
      ...(parameters.length === 0 ? {} : { parameters }),
      ...(requestBody === undefined ? {} : { requestBody }),
      responses: {
        ...responsesOf(route, schemas),
        ...errorResponses(schemas, declaredErrors(route), path === COMPUTE ? 'envelope' : 'plain'),
      },
    },
  }
}

function parametersOf(
  { path, params, query, detail }: RouteDeclaration,
  schemas: ComponentSchemas,
) {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const known = propertiesOf(params)
  const searched = Object.entries(propertiesOf(query)).map(([name, schema]) => ({
    ...parameter(name, schemas.of(schema, 'request')),
    in: 'query' as const,
    required: KindGuard.IsObject(query) && (query.required ?? []).includes(name),
  }))
  return [
    ...inPath.map((name) => ({
      ...parameter(
        name,
        known[name] === undefined ? { type: 'string' } : schemas.of(known[name], 'request'),
      ),
      in: 'path' as const,
      required: true,
    })),
    ...searched,
    ...(detail['x-idempotent'] === undefined ? [] : [IDEMPOTENCY_KEY]),
  ]
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header' as const,
  required: false,
  description:
    'Chosen by the client. A request with the same key and body, sent again within a day, gets the response of the first.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

/** Its description belongs to the parameter. */
function parameter(name: string, { description, ...schema }: ReturnType<ComponentSchemas['of']>) {
  return { name, ...(typeof description === 'string' ? { description } : {}), schema }
}

const propertiesOf = (schema: TSchema | undefined): Readonly<Record<string, TSchema>> =>
  KindGuard.IsObject(schema) ? schema.properties : {}

function requestBodyOf(
  { method, detail, body: schema }: RouteDeclaration,
  schemas: ComponentSchemas,
): OperationObject['requestBody'] {
  const body = detail['x-request-body']
  if (method === 'GET' || !(body instanceof RequestBody)) return undefined
  // Without a schema there are no fields to send.
  if (body.isJson && schema === undefined) return undefined
  const described = schema === undefined ? {} : schemas.of(schema, 'request')
  return {
    required: body.kind !== 'optional-json',
    description: `At most ${sizeOf(body.limitBytes)}.`,
    content: { [mediaTypeOf(body)]: { schema: described } },
  }
}

function mediaTypeOf({ kind }: RequestBody): string {
  switch (kind) {
    case 'json':
    case 'optional-json':
    case 'text':
      return 'application/json'
    case 'form':
      return FORM
    case 'upload':
      return 'application/octet-stream'
  }
}

const sizeOf = (bytes: number): string =>
  bytes % KIB ** 2 === 0 ? `${bytes / KIB ** 2} MiB` : `${Math.floor(bytes / KIB)} KiB`

/** Those that are no errors. */
function responsesOf(
  { schemas: declared = {}, detail }: RouteDeclaration,
  schemas: ComponentSchemas,
): Record<string, ResponseObject> {
  const responses: Record<string, ResponseObject> = {}
  for (const [status, schema] of Object.entries(declared)) {
    const content = { 'application/json': { schema: schemas.of(schema, 'response') } }
    responses[status] = { description: describedStatus(status), content }
  }
  const kind = detail['x-response']
  if (!isResponseKind(kind)) return responses
  const { status, mediaTypes }: { status: number; mediaTypes: readonly string[] } =
    RESPONSE_KINDS[kind]
  const others = Object.fromEntries(mediaTypes.map((type) => [type, { schema: {} }]))
  const content = { ...responses[status]?.content, ...others }
  responses[status] = {
    description: KIND_DESCRIPTIONS[kind],
    ...(mediaTypes.length === 0 ? {} : { content }),
  }
  if (kind === 'page') responses['303'] = { description: 'A redirect to such a page.' }
  return responses
}

const KIND_DESCRIPTIONS: Readonly<Record<ResponseKind, string>> = {
  'no-content': 'Done; without a body.',
  page: 'A page for people.',
  events: 'Server-sent events, for a client that asks for them.',
  'json-lines': 'JSON, one value a line, while the request is carried out.',
  picture: 'A picture.',
  archive: 'A compressed archive.',
  unmodified: 'The client has it, by the `ETag` in `If-None-Match`.',
  refusal: 'Refused.',
}

const describedStatus = (status: string): string => (status === '202' ? 'Accepted.' : 'Done.')

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
