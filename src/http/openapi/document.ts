import type { ComponentSchemas } from './component-schemas.ts'
import type { JsonSchema } from './json-schema.ts'

export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: DocumentInfo
  readonly servers: readonly [{ readonly url: string }]
  readonly tags: readonly Tag[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  }
}

interface DocumentInfo {
  readonly title: string
  readonly description: string
  readonly version: string
}

interface Tag {
  readonly name: string
  readonly description?: string
}

/** All callers are admitted by `Authorization: Bearer …`; the description says which token that is. */
interface SecurityScheme {
  readonly type: 'http'
  readonly scheme: 'bearer'
  readonly bearerFormat?: string
  readonly description: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

type MediaTypes = Readonly<Record<string, { readonly schema: JsonSchema }>>

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema }>>
  readonly content?: MediaTypes
}

export interface OperationObject {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: readonly string[]
  /** One of these suffices; an empty requirement lets strangers in. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly required: boolean
    readonly description?: string
    readonly content: MediaTypes
  }
  readonly responses: Readonly<Record<string, ResponseObject>>
  readonly [extension: `x-${string}`]: unknown
}

/** One operation with its place: a path with `{parameters}`. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
}

interface DocumentParts {
  readonly info: DocumentInfo
  readonly tags?: readonly Tag[]
  readonly operations: readonly PlacedOperation[]
  readonly schemas: ComponentSchemas
  /** By the name that operations ask for them with. */
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
}

/**
 * An OpenAPI 3.1 document, with paths and names in order, so that the same parts make the same bytes. Its server is the origin
 * that it was read from. Throws where two operations have one id, or one place.
 */
export function openApiDocument({
  info,
  tags,
  operations,
  schemas,
  securitySchemes,
}: DocumentParts): OpenApiDocument {
  const ids = new Set<string>()
  const paths: Record<string, Record<string, OperationObject>> = {}
  for (const { method, path, operation } of operations.toSorted(byPlace)) {
    const { operationId } = operation
    if (ids.has(operationId)) throw new Error(`Two operations have the id "${operationId}"`)
    ids.add(operationId)
    const methods = (paths[path] ??= {})
    const name = method.toLowerCase()
    if (methods[name] !== undefined) throw new Error(`Two operations are ${method} ${path}`)
    methods[name] = operation
  }
  return {
    openapi: '3.1.1',
    info,
    servers: [{ url: '/' }],
    tags: tags ?? tagsOf(operations),
    paths,
    components: { schemas: schemas.entries(), securitySchemes },
  }
}

const tagsOf = (operations: readonly PlacedOperation[]): Tag[] =>
  [...new Set(operations.flatMap(({ operation }) => operation.tags))]
    .toSorted()
    .map((name) => ({ name }))

const byPlace = (a: PlacedOperation, b: PlacedOperation): number =>
  compare(a.path, b.path) || compare(a.method, b.method)

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
