import { isDeepStrictEqual } from 'node:util'

import { invalid } from '#base/app-error.ts'
import type { Database, SiteTx } from '#platform/postgres/database.ts'
import type { Sandbox } from '#platform/sandbox-host/sandbox.ts'
import {
  type Operation,
  type PutOperation,
  parseOperation,
  sameBinding,
} from '#runtime/operations/model.ts'
import type { Operations } from '#runtime/operations/service.ts'
import { parseConfig } from '#runtime/resources/config.ts'
import { checkCode } from '#runtime/resources/function-code.ts'
import type { Resource, TypedConfig } from '#runtime/resources/model.ts'
import type { Resources } from '#runtime/resources/service.ts'
import { checkKeysKept } from '#runtime/resources/table-config.ts'
import { type PermissionsSync, permissionsSyncOf } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/service.ts'

import { withGrantIds } from './grant-names.ts'
import {
  type DefinedOperation,
  type DefinedResource,
  type Definition,
  parseDefinition,
  within,
  withinAsync,
} from './model.ts'

export interface DefinitionChange {
  readonly section: 'resources' | 'operations'
  readonly name: string
  readonly action: 'create' | 'update' | 'none'
}

export interface AppliedDefinition {
  readonly changes: readonly DefinitionChange[]
  readonly permissionsSync: PermissionsSync
}

/** Makes a site's runtime what a document says. Creates and updates, never deletes. */
export class Definitions {
  readonly #database: Database
  readonly #revisions: Revisions
  readonly #resources: Resources
  readonly #operations: Operations
  readonly #sandbox: Pick<Sandbox, 'prepare'>

  constructor(deps: {
    database: Database
    revisions: Revisions
    resources: Resources
    operations: Operations
    sandbox: Pick<Sandbox, 'prepare'>
  }) {
    this.#database = deps.database
    this.#revisions = deps.revisions
    this.#resources = deps.resources
    this.#operations = deps.operations
    this.#sandbox = deps.sandbox
  }

  /** All of it in one transaction, or nothing. What is as defined already is not touched. */
  async apply(siteId: string, value: unknown): Promise<AppliedDefinition> {
    const definition = parseDefinition(value)
    await this.#checkCode(definition)
    return this.#database.withSite(siteId, async (tx) => {
      const state = await this.#revisions.request(tx)
      const resources = new Map((await this.#resources.all(tx)).map((item) => [item.name, item]))
      const changes: DefinitionChange[] = []
      // Functions last: their grants name tables and buckets.
      for (const [at, defined] of functionsLast(definition.resources)) {
        const action = await withinAsync(`resources[${at}]`, () =>
          this.#applyResource(tx, defined, resources),
        )
        changes.push({ section: 'resources', name: defined.name, action })
      }
      const known = new Map((await this.#operations.all(tx)).map((item) => [item.operation, item]))
      for (const [at, defined] of definition.operations.entries()) {
        const action = await withinAsync(`operations[${at}]`, () =>
          this.#applyOperation(tx, defined, { resources, known }),
        )
        changes.push({ section: 'operations', name: defined.operation, action })
      }
      return { changes, permissionsSync: permissionsSyncOf(state) }
    })
  }

  /** Before the transaction: it asks the sandbox. */
  async #checkCode({ resources }: Definition): Promise<void> {
    for (const [at, { type, config }] of resources.entries()) {
      const part = `resources[${at}]`
      const typed = within(part, () =>
        parseConfig(
          type,
          withGrantIds(config, (name) => name),
        ),
      )
      if (typed.type !== 'lambdaFunction' || typed.config.code === undefined) continue
      const { code } = typed.config
      await withinAsync(part, () => checkCode(this.#sandbox, code))
    }
  }

  async #applyResource(
    tx: SiteTx,
    { type, name, config }: DefinedResource,
    resources: Map<string, Resource>,
  ): Promise<DefinitionChange['action']> {
    const idOf = (other: string) => resources.get(other)?.resourceId
    const typed = parseConfig(type, withGrantIds(config, idOf))
    const current = resources.get(name)
    if (!current) {
      resources.set(name, await this.#resources.add(tx, name, typed))
      return 'create'
    }
    if (current.type !== type) {
      throw invalid('type', `"${name}" is a ${current.type} already: choose another name`)
    }
    if (isDeepStrictEqual(current.config, typed.config)) return 'none'
    refuseOtherKeys(current, typed)
    resources.set(name, await this.#resources.replace(tx, current, typed))
    return 'update'
  }

  async #applyOperation(
    tx: SiteTx,
    defined: DefinedOperation,
    site: {
      readonly resources: ReadonlyMap<string, Resource>
      readonly known: ReadonlyMap<string, Operation>
    },
  ): Promise<DefinitionChange['action']> {
    const binding = parseOperation(linked(defined, site.resources))
    const current = site.known.get(binding.operation)
    if (current && sameBinding(current, binding)) return 'none'
    await this.#operations.write(tx, binding)
    return current ? 'update' : 'create'
  }
}

const functionsLast = (resources: readonly DefinedResource[]): [number, DefinedResource][] =>
  [...resources.entries()].toSorted(
    ([, a], [, b]) => Number(a.type === 'lambdaFunction') - Number(b.type === 'lambdaFunction'),
  )

function refuseOtherKeys(current: Resource, typed: TypedConfig): void {
  if (current.type === 'ddbTable' && typed.type === 'ddbTable') {
    checkKeysKept(current.config, typed.config)
  }
}

/** The operation as its route would get it: names become ids. */
function linked(
  { lambdaResource, preset, resource, ...rest }: DefinedOperation,
  resources: ReadonlyMap<string, Resource>,
): PutOperation {
  if (resource !== undefined && preset === undefined) {
    throw invalid('resource', 'belongs to a preset: name a function in "lambdaResource"')
  }
  const idOf = (field: string, name: string): string => {
    const found = resources.get(name)
    if (found) return found.resourceId
    throw invalid(field, `resource "${name}" is neither in the definition nor on the site`)
  }
  const onResource = resource === undefined ? {} : { resourceId: idOf('resource', resource) }
  return {
    ...rest,
    ...(lambdaResource === undefined
      ? {}
      : { lambdaResourceId: idOf('lambdaResource', lambdaResource) }),
    ...(preset === undefined ? {} : { preset: { preset, ...onResource } }),
  }
}
