import { Type } from '@sinclair/typebox'

import { type FieldFault, invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type {
  DefinedItem,
  Link,
  DefinitionSection,
  SiteItem,
} from '#runtime/definitions/section.ts'
import {
  AuthInput,
  CacheInput,
  MAX_OPERATIONS,
  type OperationBinding,
  PutOperation,
  parseOperation,
  sameBinding,
} from '#runtime/operations/model.ts'
import type { Operations } from '#runtime/operations/service.ts'
import type { ResourceType } from '#runtime/resources/model.ts'
import type { Resources } from '#runtime/resources/resources.ts'
import { SiteName, mapFaults, parseShape } from '#runtime/shape.ts'

export const DefinedOperation = ClosedObject({
  operation: SiteName,
  /** Name of a function. */
  lambdaResource: Type.Optional(SiteName),
  preset: Type.Optional(
    Type.String({
      maxLength: 64,
      fault: 'must be its name; "resource", "fixed", "allowed" and "owner" belong beside it',
    }),
  ),
  /** Name of the table or bucket of the preset. */
  resource: Type.Optional(SiteName),
  /** These three belong to the preset and are checked with it. */
  fixed: Type.Optional(Type.Unknown()),
  allowed: Type.Optional(Type.Unknown()),
  owner: Type.Optional(Type.Unknown()),
  auth: Type.Optional(AuthInput),
  cache: Type.Optional(CacheInput),
  http: Type.Optional(Type.Boolean()),
  input: Type.Optional(Type.Unknown()),
  output: Type.Optional(Type.Unknown()),
})

interface OperationSectionDeps {
  readonly operations: Operations
  readonly resources: Resources
}

/** What a site's visitors can call. */
export const operationSection = ({
  operations,
  resources,
}: OperationSectionDeps): DefinitionSection => ({
  name: 'operations',
  maxItems: MAX_OPERATIONS,
  parse(value): DefinedItem {
    const named = parseNamed(value)
    return {
      ...itemOf(named),
      async put(tx, { audit, toDelete }) {
        const binding = await withResourceIds(tx, resources, named)
        const current = await operations.find(tx, binding.operation)
        if (current && sameBinding(current, binding)) return 'none'
        await operations.write(tx, binding, { audit, toDelete: toDelete.size })
        return current ? 'update' : 'create'
      },
    }
  },
  async all(tx) {
    const names = new Map((await resources.names(tx)).map((item) => [item.resourceId, item.name]))
    const nameOf = (resourceId: string) => names.get(resourceId) ?? resourceId
    return (await operations.all(tx)).map((operation) => itemOf(mapLinks(operation, nameOf)))
  },
  rename: (tx, names, { audit }) => operations.rename(tx, names, audit),
  delete: (tx, name, { audit }) => operations.delete(tx, name, audit),
})

/** The operation as its route would read it, names standing where ids would. */
function parseNamed(value: unknown): OperationBinding {
  const { lambdaResource, preset, resource, fixed, allowed, owner, ...rest } = parseShape(
    DefinedOperation,
    value,
  )
  const ofPreset = defined({ resourceId: resource, fixed, allowed, owner })
  const [stray] = Object.keys(ofPreset)
  if (preset === undefined && stray !== undefined) {
    const field = stray === 'resourceId' ? 'resource' : stray
    throw invalid(field, 'belongs to a preset: name a function in "lambdaResource"')
  }
  const input = {
    ...rest,
    ...defined({ lambdaResourceId: lambdaResource }),
    ...(preset === undefined ? {} : { preset: { preset, ...ofPreset } }),
  }
  try {
    return parseOperation(parseShape(PutOperation, input))
  } catch (error) {
    throw mapFaults(error, definitionFault)
  }
}

const defined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function definitionFault({ field, message }: FieldFault): FieldFault {
  const words = message
    .replaceAll('"lambdaResourceId"', '"lambdaResource"')
    .replaceAll('"resourceId"', '"resource"')
  return { field: fieldInDefinition(field), message: words }
}

function fieldInDefinition(field: string): string {
  if (field === 'lambdaResourceId') return 'lambdaResource'
  if (field === 'preset.preset') return 'preset'
  if (field === 'preset.resourceId') return 'resource'
  return field.replace(/^preset\./, '')
}

/** The binding with ids in place of names. */
async function withResourceIds(
  tx: SiteTx,
  resources: Resources,
  named: OperationBinding,
): Promise<OperationBinding> {
  const links = [named.lambdaResourceId, named.preset?.resourceId ?? null]
  const linked = await resources.names(
    tx,
    links.filter((name) => name !== null),
  )
  const ids = new Map(linked.map((item) => [item.name, item.resourceId]))
  return mapLinks(named, (name) => {
    const resourceId = ids.get(name)
    if (resourceId !== undefined) return resourceId
    throw invalid(
      named.preset === null ? 'lambdaResource' : 'resource',
      `resource "${name}" is neither in the definition nor on the site`,
    )
  })
}

const mapLinks = (from: OperationBinding, to: (link: string) => string): OperationBinding => ({
  operation: from.operation,
  lambdaResourceId: from.lambdaResourceId === null ? null : to(from.lambdaResourceId),
  preset:
    from.preset === null || from.preset.resourceId === null
      ? from.preset
      : { ...from.preset, resourceId: to(from.preset.resourceId) },
  auth: from.auth,
  cacheTtlSeconds: from.cacheTtlSeconds,
  http: from.http,
  input: from.input,
  output: from.output,
})

/** Takes a binding whose links are names. */
function itemOf({
  operation,
  lambdaResourceId,
  preset,
  auth,
  cacheTtlSeconds,
  http,
  input,
  output,
}: OperationBinding): SiteItem {
  const { preset: presetName, resourceId, ...options } = preset ?? {}
  return {
    name: operation,
    canonical: {
      operation,
      ...(lambdaResourceId === null ? {} : { lambdaResource: lambdaResourceId }),
      ...defined({ preset: presetName, resource: resourceId ?? undefined, ...options }),
      auth,
      cache: { ttlSeconds: cacheTtlSeconds },
      ...(http ? { http } : {}),
      ...(input === null ? {} : { input }),
      ...(output === null ? {} : { output }),
    },
    links: [
      ...(lambdaResourceId === null ? [] : [toFunction(lambdaResourceId)]),
      ...(typeof resourceId === 'string' ? [toStore(String(presetName), resourceId)] : []),
      ...(auth.mode === 'groups' ? auth.groups.map(toGroup) : []),
    ],
  }
}

const toFunction = (name: string): Link => ({
  field: 'lambdaResource',
  section: 'resources',
  name,
  types: ['lambdaFunction'],
})

function toStore(preset: string, name: string): Link {
  const type: ResourceType = preset.startsWith('ddb.') ? 'ddbTable' : 's3Bucket'
  return { field: 'resource', section: 'resources', name, types: [type] }
}

const toGroup = (name: string, at: number): Link => ({
  field: `auth.groups[${at}]`,
  section: 'groups',
  name,
})
