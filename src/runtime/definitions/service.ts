import { SYSTEM } from '#base/actor.ts'
import { AppError, type FieldFault, invalid } from '#base/app-error.ts'
import type { SiteTx } from '#platform/postgres/database.ts'
import { withRollback } from '#platform/postgres/with-rollback.ts'

import { byName, type ParsedDefinition, parseDefinition } from './parse.ts'
import {
  type Change,
  type ChangeAction,
  type DefinitionPlan,
  type KnownActions,
  type Mode,
  planDefinition,
  type SiteState,
} from './plan.ts'
import { bothThere, plannedRenames, type Rename } from './renames.ts'
import {
  type ChangeContext,
  type DefinedItem,
  type DefinitionSection,
  type IndexedItem,
  type PutAction,
  SECTION_NAMES,
  type SectionName,
  type SiteItem,
} from './section.ts'

/** Of a change that is rolled back. */
const TRIAL = { actor: SYSTEM, audit: async () => {} }

/** A site's runtime as one document: read, compared with what the site has, and carried out change by change. */
export class Definitions {
  readonly #sections: readonly DefinitionSection[]

  /** The sections in any order. */
  constructor(sections: readonly DefinitionSection[]) {
    this.#sections = sections.toSorted(
      (a, b) => SECTION_NAMES.indexOf(a.name) - SECTION_NAMES.indexOf(b.name),
    )
  }

  /** Throws one `ValidationError` that names every fault: `jobs[3].schedule.cron`. */
  parse(value: unknown): ParsedDefinition {
    return parseDefinition(this.#sections, value)
  }

  /** What makes the site what the definition says, and why that may not be possible. Changes nothing. */
  async plan(tx: SiteTx, definition: ParsedDefinition, mode: Mode): Promise<DefinitionPlan> {
    const before = await this.#state(tx)
    const { renames, faults: ofNames } = plannedRenames(definition, before)
    const site = renames.length === 0 ? before : await this.#stateAfter(tx, renames)
    const { known, faults } = await this.#knownActions(tx, definition, { site, mode })
    const plan = planDefinition(definition, site, { mode, known, renames })
    const room = sectionLimitFaults(plan.changes, site, this.#sections)
    const items = await itemFaults(tx, definition, plan.changes)
    return {
      changes: plan.changes,
      faults: [...ofNames, ...faults, ...plan.faults, ...items, ...room],
    }
  }

  /** The caller has locked the site, and asks for the revision. Says what there was to do. */
  async applyChange(
    tx: SiteTx,
    definition: ParsedDefinition,
    change: Pick<Change, 'section' | 'name' | 'action'> & { readonly by: ChangeContext },
  ): Promise<ChangeAction> {
    const section = this.#section(change.section)
    const named = definition.get(change.section)?.find(({ item }) => item.name === change.name)
    if (change.action === 'delete') {
      const deletion = named
        ? section.deleteDisplaced?.(tx, change.name, change.by)
        : section.delete(tx, change.name, change.by)
      return (await deletion) === true ? 'delete' : 'none'
    }
    if (!named) throw new Error(`The definition has no ${change.section} "${change.name}"`)
    const isRenamed =
      change.action === 'rename' && (await renamed(tx, section, named.item, change.by))
    const action = await named.item.put(tx, change.by)
    return isRenamed ? 'rename' : action
  }

  /** What the site has, as a definition: applied to this site it changes nothing. No secret's value is in it. */
  async export(tx: SiteTx): Promise<Record<string, readonly object[]>> {
    const state = await this.#state(tx)
    return Object.fromEntries(
      SECTION_NAMES.map((name) => [
        name,
        (state.get(name) ?? []).toSorted(byName).map(({ canonical }) => canonical),
      ]),
    )
  }

  /** What may be kept of a definition that was read as `parsed`: all but the values of secrets. */
  async withoutSecrets(tx: SiteTx, value: object, parsed: ParsedDefinition): Promise<object> {
    return withoutSecrets(value, parsed, await this.#section('envVars').all(tx))
  }

  #section(name: SectionName): DefinitionSection {
    const section = this.#sections.find((item) => item.name === name)
    if (!section) throw new Error(`There is no section "${name}"`)
    return section
  }

  async #state(tx: SiteTx): Promise<SiteState> {
    const state = new Map<SectionName, readonly SiteItem[]>()
    for (const section of this.#sections) state.set(section.name, await section.all(tx))
    return state
  }

  /** What the site would have: it is renamed, read, and named as before. */
  #stateAfter(tx: SiteTx, renames: readonly Rename[]): Promise<SiteState> {
    return withRollback(tx, async (trial) => {
      for (const { section, from, to } of renames) {
        await this.#section(section).rename?.(trial, { from, to }, TRIAL)
      }
      return this.#state(trial)
    })
  }

  async #knownActions(
    tx: SiteTx,
    definition: ParsedDefinition,
    { site, mode }: { readonly site: SiteState; readonly mode: Mode },
  ): Promise<{ readonly known: KnownActions; readonly faults: readonly FieldFault[] }> {
    const known = new Map<SectionName, ReadonlyMap<string, PutAction>>()
    const faults: FieldFault[] = []
    for (const section of this.#sections) {
      const placed = definition.get(section.name)
      if (!section.actions || placed === undefined) continue
      try {
        const toDelete = new Set(mode === 'replace' ? unnamed(site.get(section.name), placed) : [])
        known.set(section.name, await section.actions(tx, placed, toDelete))
      } catch (error) {
        if (!(error instanceof AppError) || error.details === undefined) throw error
        faults.push(...error.details)
      }
    }
    return { known, faults }
  }
}

/** Whether there was something to rename: much may have changed since that was planned. */
async function renamed(
  tx: SiteTx,
  section: DefinitionSection,
  { name: to, renamedFrom: from }: DefinedItem,
  by: Pick<ChangeContext, 'actor' | 'audit'>,
): Promise<boolean> {
  const names = new Set((await section.all(tx)).map(({ name }) => name))
  if (from === undefined || !names.has(from)) return false
  if (names.has(to)) throw invalid('renamedFrom', bothThere(from, to))
  await section.rename?.(tx, { from, to }, by)
  return true
}

/** What speaks against single items. */
async function itemFaults(
  tx: SiteTx,
  definition: ParsedDefinition,
  changes: readonly Change[],
): Promise<FieldFault[]> {
  const faults: FieldFault[] = []
  for (const { section, name, action } of changes) {
    if (action !== 'create' && action !== 'update') continue
    const placed = definition.get(section)?.find(({ item }) => item.name === name)
    const fault = await placed?.item.fault?.(tx)
    if (fault) faults.push({ ...fault, field: `${section}[${placed?.index}].${fault.field}` })
  }
  return faults
}

/** What the site has and the definition does not name. */
function unnamed(items: readonly SiteItem[] = [], placed: readonly IndexedItem[]): string[] {
  const wanted = new Set(placed.map(({ item }) => item.name))
  return items.map(({ name }) => name).filter((name) => !wanted.has(name))
}

/**
 * Sections of which the site would hold too much in the end; what the job deletes takes no room on the way. A section that
 * says itself what its items come to finds that out on its own.
 */
export function sectionLimitFaults(
  changes: readonly Change[],
  site: SiteState,
  sections: readonly Pick<DefinitionSection, 'name' | 'maxItems' | 'actions'>[],
): FieldFault[] {
  return sections.flatMap(({ name, maxItems, actions }) => {
    const has = site.get(name)?.length ?? 0
    const added = count(changes, name, 'create')
    const deleted = count(changes, name, 'delete')
    if (actions || added === 0 || has - deleted + added <= maxItems) return []
    const less = deleted === 0 ? '' : ` and deletes ${deleted}`
    const message = `the site has ${has} and this adds ${added}${less}, where at most ${maxItems} have room: leave some out, or delete some first`
    return [{ field: name, message }]
  })
}

const count = (changes: readonly Change[], name: SectionName, kind: Change['action']): number =>
  changes.filter(({ section, action }) => section === name && action === kind).length

/**
 * The definition as it was sent, without the values of what it or the site, which has `known`, calls a secret. `parsed` is
 * what it was read as.
 */
function withoutSecrets(
  value: object,
  parsed: ParsedDefinition,
  known: readonly SiteItem[],
): object {
  const variables = parsed.get('envVars')
  if (variables === undefined) return value
  const sent: unknown = 'envVars' in value ? value.envVars : undefined
  if (!Array.isArray(sent)) return value
  const kept = new Set(known.filter(isSecret).map(({ name }) => name))
  const secret = new Set(
    variables.filter(({ item }) => isSecret(item) || kept.has(item.name)).map(({ index }) => index),
  )
  return {
    ...value,
    envVars: sent.map((variable: unknown, index) =>
      secret.has(index) ? withoutValue(variable) : variable,
    ),
  }
}

const isSecret = ({ canonical }: SiteItem): boolean => canonical['secret'] === true

function withoutValue(variable: unknown): unknown {
  if (typeof variable !== 'object' || variable === null) return variable
  return Object.fromEntries(Object.entries(variable).filter(([name]) => name !== 'value'))
}
