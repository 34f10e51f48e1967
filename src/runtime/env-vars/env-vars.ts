import type { FieldFault } from '#base/app-error.ts'
import type { SiteAudit } from '#identity/security-events/model.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import type { Sealer } from '#platform/seal/sealer.ts'
import type { PlatformServices } from '#platform/services.ts'
import { type PermissionsSync, permissionsSyncOf } from '#runtime/revisions/model.ts'
import type { Revisions } from '#runtime/revisions/revisions.ts'
import { mapFaults } from '#runtime/shape.ts'
import type { SiteKeys } from '#sites/site-keys.ts'

import {
  type EnvVar,
  type EnvVarAction,
  type EnvVarChange,
  type EnvVarPlan,
  type OpenEnvVar,
  type PlainEnvVar,
  type SealedEnvVar,
  envVarSealContext,
  planEnvVarChanges,
} from './model.ts'
import { parsePutEnvVars } from './put-body.ts'
import { type EnvVarRow, deleteEnvVars, selectEnvVars, upsertEnvVars } from './queries.ts'

/** Of an entry in the audit trail, in characters. */
const MAX_NAMES = 1000

export interface SavedEnvVars {
  /** The variables that the request named and did not delete. */
  readonly saved: readonly EnvVar[]
  readonly permissionsSync: PermissionsSync
}

/** The environment of a site's functions. Every value is sealed with the site's key, secret or not. */
export class EnvVars {
  readonly #deps

  constructor(
    deps: Pick<PlatformServices, 'database' | 'clock'> & {
      readonly revisions: Revisions
      readonly sealer: Pick<Sealer, 'seal' | 'open'>
      readonly siteKeys: SiteKeys
    },
  ) {
    this.#deps = deps
  }

  /** By name. */
  list(siteId: string): Promise<EnvVar[]> {
    return this.#deps.database.withSite(siteId, (tx) => this.all(tx))
  }

  /** Saves what `body` names and leaves the rest alone. What is as it says already makes no revision. */
  async put(siteId: string, body: unknown, audit: SiteAudit): Promise<SavedEnvVars> {
    const changes = parsePutEnvVars(body)
    const work = async (tx: SiteTx): Promise<SavedEnvVars> => {
      const actions = await this.dryRun(tx, changes)
      const idle = !isChange(actions)
      const state = idle
        ? await this.#deps.revisions.state(tx)
        : await this.#deps.revisions.request(tx)
      if (!idle) await this.write(tx, changes, { audit })
      const named = new Set(changes.map(({ name }) => name))
      const saved = (await this.all(tx)).filter(({ name }) => named.has(name))
      return { saved, permissionsSync: permissionsSyncOf(state) }
    }
    return this.#deps.database.withSite(siteId, work).catch((error: unknown) => {
      throw mapFaults(error, bodyFault)
    })
  }

  /** Deletes all of them. */
  clear(siteId: string, audit: SiteAudit): Promise<void> {
    return this.#deps.database.withSite(siteId, async (tx) => {
      if ((await selectEnvVars(tx)).length === 0) return
      await this.#deps.revisions.request(tx)
      const names = (await selectEnvVars(tx)).map(({ name }) => name)
      await deleteEnvVars(tx, names)
      await audit(tx, changeOf(new Map(names.map((name) => [name, 'delete']))))
    })
  }

  /** All of them by name; there are at most 200. */
  async all(tx: SiteTx): Promise<EnvVar[]> {
    const rows = await selectEnvVars(tx)
    const values = await this.#plain(
      tx,
      rows.filter(({ secret }) => !secret),
    )
    return rows.map(({ sealed: _sealed, ...row }) => ({ ...row, ...values.get(row.name) }))
  }

  /** Expects a caller that has requested the revision and deletes those of `toDelete` itself. Returns what each change was. */
  async write(
    tx: SiteTx,
    changes: readonly EnvVarChange[],
    { audit, toDelete }: { readonly audit: SiteAudit; readonly toDelete?: ReadonlySet<string> },
  ): Promise<ReadonlyMap<string, EnvVarAction>> {
    const { actions, written, deleted } = await this.#plan(tx, changes, toDelete)
    const key = await this.#deps.siteKeys.wrapped(tx)
    const rows = written.map(({ value, ...facts }) => ({
      ...facts,
      sealed: this.#deps.sealer.seal(key, envVarSealContext(facts.name), Buffer.from(value)),
    }))
    await upsertEnvVars(tx, rows, this.#deps.clock.now())
    await deleteEnvVars(tx, deleted)
    if (isChange(actions)) await audit(tx, changeOf(actions))
    return actions
  }

  /** What `write` would do. */
  async dryRun(
    tx: SiteTx,
    changes: readonly EnvVarChange[],
    toDelete?: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, EnvVarAction>> {
    return (await this.#plan(tx, changes, toDelete)).actions
  }

  /** What functions may be given, by name. */
  async values(tx: SiteTx): Promise<ReadonlyMap<string, OpenEnvVar>> {
    const rows = await selectEnvVars(tx)
    if (rows.length === 0) return new Map()
    return this.#plain(tx, rows)
  }

  /** For a revision: nothing in it can be read without the site's key. */
  async sealed(tx: SiteTx): Promise<SealedEnvVar[]> {
    const rows = await selectEnvVars(tx)
    return rows.map(({ name, secret, sealed }) => ({
      name,
      secret,
      sealed: sealed.toString('base64'),
    }))
  }

  /** Opens what a revision carries. */
  async unseal(
    tx: SiteTx,
    sealed: readonly SealedEnvVar[],
  ): Promise<ReadonlyMap<string, OpenEnvVar>> {
    if (sealed.length === 0) return new Map()
    const key = await this.#deps.siteKeys.wrapped(tx)
    return new Map(
      sealed.map((entry) => {
        const bytes = Buffer.from(entry.sealed, 'base64')
        const value = this.#deps.sealer.open(key, envVarSealContext(entry.name), bytes).toString()
        return [entry.name, { value, secret: entry.secret }]
      }),
    )
  }

  async #plan(
    tx: SiteTx,
    changes: readonly EnvVarChange[],
    toDelete?: ReadonlySet<string>,
  ): Promise<EnvVarPlan> {
    return planEnvVarChanges(await this.#plain(tx, await selectEnvVars(tx)), changes, toDelete)
  }

  async #plain(tx: SiteTx, rows: readonly EnvVarRow[]): Promise<ReadonlyMap<string, PlainEnvVar>> {
    const key = await this.#deps.siteKeys.wrapped(tx)
    return new Map(
      rows.map(({ name, secret, storageBackend, sealed }) => {
        const value = this.#deps.sealer.open(key, envVarSealContext(name), sealed).toString()
        return [name, { name, value, secret, storageBackend }]
      }),
    )
  }
}

const isChange = (actions: ReadonlyMap<string, EnvVarAction>): boolean =>
  [...actions.values()].some((action) => action !== 'none')

/** Names by what became of them, never a value. */
function changeOf(actions: ReadonlyMap<string, EnvVarAction>) {
  const names: Partial<Record<EnvVarAction, string[]>> = {}
  for (const [name, action] of actions) (names[action] ??= []).push(name)
  const { none: _, ...changed } = names
  const detail = Object.fromEntries(
    Object.entries(changed).map(([action, all]) => [action, all.join(' ').slice(0, MAX_NAMES)]),
  )
  return { event: 'env-vars.changed', detail } as const
}

/** Names the field of the route's body. */
const bodyFault = ({ field, message }: FieldFault): FieldFault => ({
  field: field === 'name' || field === 'variables' ? 'variables' : `variables.${field}`,
  message,
})
