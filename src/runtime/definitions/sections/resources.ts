import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import { AppError, type FieldFault, invalid } from '#base/app-error.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type {
  DefinedItem,
  DefinitionSection,
  Link,
  PutAction,
  SiteItem,
} from '#runtime/definitions/section.ts'
import { parseConfig, shownConfig, storedConfig } from '#runtime/resources/config.ts'
import type { Grant } from '#runtime/resources/function-config.ts'
import {
  MAX_RESOURCES,
  NewResource,
  type ResourceType,
  type TypedConfig,
} from '#runtime/resources/model.ts'
import type { Resources, WantedResource } from '#runtime/resources/resources.ts'
import { mapFaults, parseShape } from '#runtime/shape.ts'
import { checkKeysUnchanged } from '#runtime/tables/table-config.ts'

/** Tables, buckets and functions. What a function is granted is named, not numbered. */
export const resourceSection = (resources: Resources): DefinitionSection => ({
  name: 'resources',
  maxItems: MAX_RESOURCES,
  parse(value): DefinedItem {
    const { type, name, config } = parseShape(NewResource, value)
    const typed = parseTyped(type, config)
    if (type === 'ddbTable' && config === undefined) {
      return tableWithoutConfig(resources, name, typed)
    }
    return {
      ...itemOf(name, typed),
      conflict: (current) => conflict(current, typed),
      mustReplace: (current) => current.type !== type,
      ...(typed.type === 'lambdaFunction' ? { functionConfig: typed.config } : {}),
      put: (tx, { audit, toDelete }) => put(tx, resources, { name, typed, toDelete }, audit),
    }
  },
  async all(tx) {
    const all = await resources.all(tx)
    const names = new Map(all.map(({ resourceId, name }) => [resourceId, name]))
    return all.map((item) =>
      itemOf(
        item.name,
        mapGrants(item, (id) => names.get(id) ?? id),
      ),
    )
  },
  async rename(tx, { from, to }, { audit }) {
    const current = await resources.findByName(tx, from)
    if (current) await resources.rename(tx, current, to, audit)
  },
  async delete(tx, name, { audit }) {
    const current = await resources.findByName(tx, name)
    return current === undefined ? false : resources.delete(tx, current.resourceId, audit)
  },
  async deleteDisplaced(tx, name, { audit }) {
    const displaced = await resources.findByName(tx, displacedName(name))
    return displaced === undefined ? false : resources.delete(tx, displaced.resourceId, audit)
  },
})

function parseTyped(type: ResourceType, config: unknown): TypedConfig {
  try {
    return parseConfig(type, withGrantIds(config))
  } catch (error) {
    throw mapFaults(error, grantFault)
  }
}

/** What is deleted last has its name taken before. */
const displacedName = (name: string): string =>
  `${name.slice(0, 38)}-displaced-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`

/** A table of which only the name is said: what the site has stays, and a new one gets `typed`. */
function tableWithoutConfig(resources: Resources, name: string, typed: TypedConfig): DefinedItem {
  const { type } = typed
  return {
    name,
    type,
    canonical: { type, name },
    links: [],
    partial: true,
    conflict: (current) => (current.type === type ? undefined : otherType(current)),
    mustReplace: (current) => current.type !== type,
    async put(tx, { audit, toDelete }) {
      const current = await resources.findByName(tx, name)
      if (current?.type === type) return 'none'
      return put(tx, resources, { name, typed, toDelete }, audit)
    },
  }
}

/** Takes a config whose grants hold names. */
function itemOf(name: string, typed: TypedConfig): SiteItem {
  return {
    name,
    type: typed.type,
    canonical: { type: typed.type, name, config: withGrantNames(typed) },
    links:
      typed.type === 'lambdaFunction'
        ? [...typed.config.resources.map(grantLink), ...typed.config.environment.map(variableLink)]
        : [],
  }
}

const variableLink = (name: string, at: number): Link => ({
  field: `config.environment[${at}]`,
  section: 'envVars',
  name,
})

const grantLink = ({ resourceId }: Grant, at: number): Link => ({
  field: `config.resources[${at}].resource`,
  section: 'resources',
  name: resourceId,
  types: ['ddbTable', 's3Bucket'],
})

function conflict(current: SiteItem, typed: TypedConfig): FieldFault | undefined {
  if (current.type !== typed.type) return otherType(current)
  const before = storedConfig(typed.type, current.canonical['config'])
  if (before.type !== 'ddbTable' || typed.type !== 'ddbTable') return undefined
  try {
    checkKeysUnchanged(before.config, typed.config)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.details?.[0]) {
      return { field: error.details[0].field, message: error.message.replace(/^\S+ /, '') }
    }
    throw error
  }
}

const otherType = ({ name, type }: SiteItem): FieldFault => ({
  field: 'type',
  message: `"${name}" is a ${type} already: choose another name, or delete it by mode "replace"`,
})

async function put(
  tx: SiteTx,
  resources: Resources,
  wanted: WantedResource,
  audit: SiteAudit,
): Promise<PutAction> {
  const linked = await resources.names(tx, linksOf(wanted.typed))
  const ids = new Map(linked.map((item) => [item.name, item.resourceId]))
  const typed = mapGrants(wanted.typed, (name, at) => {
    const resourceId = ids.get(name)
    if (resourceId !== undefined) return resourceId
    const field = `config.resources[${at}].resource`
    throw invalid(field, `resource "${name}" is neither in the definition nor on the site`)
  })
  const { name, toDelete } = wanted
  const current = await resources.findByName(tx, name)
  const displaces = current && current.type !== typed.type && toDelete.has(name)
  if (displaces) await resources.rename(tx, current, displacedName(name), audit)
  if (!current || displaces) {
    await resources.add(tx, { name, typed, toDelete }, audit)
    return 'create'
  }
  const fault = conflict(itemOf(current.name, current), typed)
  if (fault) throw invalid(fault.field, fault.message)
  if (isDeepStrictEqual(current.config, typed.config)) return 'none'
  await resources.replace(tx, current, typed, { changed: 'config', audit, toDelete })
  return 'update'
}

const linksOf = (typed: TypedConfig): string[] =>
  typed.type === 'lambdaFunction' ? typed.config.resources.map(({ resourceId }) => resourceId) : []

function mapGrants(typed: TypedConfig, to: (link: string, at: number) => string): TypedConfig {
  if (typed.type !== 'lambdaFunction') return typed
  const resources = typed.config.resources.map((grant, at) => ({
    ...grant,
    resourceId: to(grant.resourceId, at),
  }))
  return { type: typed.type, config: { ...typed.config, resources } }
}

/**
 * In a definition a function's grants name resources (`{ resource, access }`), for ids are not known when it is written.
 * Gives the config as its own check reads it, with the names where ids would be.
 */
function withGrantIds(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || !('resources' in config)) return config
  const grants: unknown = config.resources
  if (!Array.isArray(grants)) return config
  return { ...config, resources: grants.map(withId) }
}

function withId(grant: unknown, at: number): unknown {
  if (typeof grant !== 'object' || grant === null) return grant
  if (!('resource' in grant)) {
    throw invalid(`config.resources[${at}].resource`, 'is required: the name of a table or bucket')
  }
  const { resource, ...rest } = grant
  return { ...rest, resourceId: resource }
}

/** The config of a resource whose grants hold names, in the words of a definition. */
function withGrantNames(typed: TypedConfig): object {
  if (typed.type !== 'lambdaFunction') return shownConfig(typed)
  const { config } = typed
  const grants = config.resources.map(({ resourceId: resource, access }) => ({ resource, access }))
  return { ...config, resources: grants }
}

/** The fault of a check that knows ids only, naming what the definition holds instead. */
const grantFault = ({ field, message }: FieldFault): FieldFault => ({
  field: field.replace(/^(config\.resources\[\d+\])\.resourceId$/, '$1.resource'),
  message,
})
