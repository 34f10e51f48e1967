import { type Static, Type } from '@sinclair/typebox'

import { AppError, invalid } from '#base/app-error.ts'
import { AuthInput, CacheInput } from '#runtime/operations/model.ts'
import { MAX_RESOURCES, ResourceType } from '#runtime/resources/model.ts'
import { invalidFields, parseShape } from '#runtime/shape.ts'
import { SiteName } from '#runtime/storable-text.ts'

const DefinedResource = Type.Object(
  { type: ResourceType, name: SiteName, config: Type.Optional(Type.Unknown()) },
  { additionalProperties: false },
)
export type DefinedResource = Static<typeof DefinedResource>

const DefinedOperation = Type.Object(
  {
    operation: SiteName,
    /** Name of a function. */
    lambdaResource: Type.Optional(SiteName),
    preset: Type.Optional(Type.String({ maxLength: 64 })),
    /** Name of the table or bucket of the preset. */
    resource: Type.Optional(SiteName),
    auth: Type.Optional(AuthInput),
    cache: Type.Optional(CacheInput),
  },
  { additionalProperties: false },
)
export type DefinedOperation = Static<typeof DefinedOperation>

/** A site's runtime as one document, its parts linked by name. */
const Definition = Type.Object(
  {
    resources: Type.Optional(Type.Array(DefinedResource, { maxItems: MAX_RESOURCES })),
    operations: Type.Optional(Type.Array(DefinedOperation, { maxItems: MAX_RESOURCES })),
  },
  { additionalProperties: false },
)

export interface Definition {
  readonly resources: readonly DefinedResource[]
  readonly operations: readonly DefinedOperation[]
}

const COMING_SECTIONS = ['jobs', 'groups', 'envVars']

export function parseDefinition(value: unknown): Definition {
  if (typeof value === 'object' && value !== null) {
    const section = COMING_SECTIONS.find((name) => name in value)
    if (section) throw invalid(section, 'this section is not served by this version: leave it out')
  }
  const { resources = [], operations = [] } = parseShape(Definition, value)
  refuseTwice('resources', resources, ({ name }) => name)
  refuseTwice('operations', operations, ({ operation }) => operation)
  return { resources, operations }
}

/** Runs a check whose faults name fields of one part, and makes them name fields of the whole. */
export function within<Result>(part: string, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    throw placed(part, error)
  }
}

export async function withinAsync<Result>(
  part: string,
  check: () => Promise<Result>,
): Promise<Result> {
  try {
    return await check()
  } catch (error) {
    throw placed(part, error)
  }
}

function placed(part: string, error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const { code, details, fields } = error
  const message = `${part}${details === undefined ? ': ' : '.'}${error.message}`
  return new AppError(code, message, {
    cause: error.cause,
    ...(fields === undefined ? {} : { fields }),
    ...(details === undefined
      ? {}
      : { details: details.map((fault) => ({ ...fault, field: `${part}.${fault.field}` })) }),
  })
}

function refuseTwice<Item>(
  section: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
): void {
  const seen = new Set<string>()
  for (const [at, item] of items.entries()) {
    const name = nameOf(item)
    if (seen.has(name)) {
      throw invalidFields([{ field: `${section}[${at}]`, message: `"${name}" is defined twice` }])
    }
    seen.add(name)
  }
}
