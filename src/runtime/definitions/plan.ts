import { isDeepStrictEqual } from 'node:util'

import type { FieldFault } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'

import { itemKey, linkFaults } from './links.ts'
import { byName, type ParsedDefinition } from './parse.ts'
import type { Rename } from './renames.ts'
import {
  type DefinedItem,
  type IndexedItem,
  type PutAction,
  SECTION_NAMES,
  type SectionName,
  type SiteItem,
} from './section.ts'

/** How deep a difference is named: `config.memoryMb`, not what is inside of a list. */
const DEPTH = 3
const MAX_FIELDS = 50

export type Mode = 'plan' | 'apply' | 'replace'
export type ChangeAction = PutAction | 'rename' | 'delete'

export interface Change {
  readonly section: SectionName
  readonly name: string
  readonly action: ChangeAction
  /** What an update changes; never values. */
  readonly fields: readonly string[]
  /** The name before, as the definition says it. */
  readonly renamedFrom: string | null
}

/** Everything that a site has, section by section. */
export type SiteState = ReadonlyMap<SectionName, readonly SiteItem[]>
/** What the canonical forms of some items do not tell. */
export type KnownActions = ReadonlyMap<SectionName, ReadonlyMap<string, PutAction>>

export interface DefinitionPlan {
  /** In the order in which they are carried out. */
  readonly changes: readonly Change[]
  /** Why it cannot be carried out. */
  readonly faults: readonly FieldFault[]
}

/**
 * What makes `site` what `definition` says. A section that is absent is left alone. `plan` shows the whole difference,
 * also what only `replace` deletes, and asks no more than `apply` does.
 */
export function planDefinition(
  definition: ParsedDefinition,
  site: SiteState,
  how: {
    readonly mode: Mode
    readonly known: KnownActions
    /** What was renamed already to read `site`. */
    readonly renames: readonly Rename[]
  },
): DefinitionPlan {
  const { mode, known } = how
  const renamed = new Set(how.renames.map(({ section, to }) => itemKey(section, to)))
  const parts = [...definition].map(([section, placed]) =>
    planSection(section, placed, {
      current: new Map((site.get(section) ?? []).map((item) => [item.name, item])),
      known: known.get(section),
      displaces: mode !== 'apply',
      renamed,
    }),
  )
  const displaced = new Set(parts.flatMap((part) => part.displaced))
  const puts = parts
    .flatMap((part) => part.puts)
    .map((put) => withDisplacedLinks(put, definition, displaced))
  const deletions = mode === 'apply' ? [] : parts.flatMap((part) => part.deletions)
  const changes = inApplyOrder(puts, deletions, { definition, site })
  const faults = [
    ...parts.flatMap((part) => part.faults),
    ...linkFaults(definition, site, mode === 'replace' ? changes : puts),
  ]
  return { changes, faults }
}

interface SectionPlan extends Pick<DefinitionPlan, 'faults'> {
  readonly puts: readonly Change[]
  /** What the site has and the definition does not name, or names as another thing. */
  readonly deletions: readonly Change[]
  /** The latter, as links name it. */
  readonly displaced: readonly string[]
}

function planSection(
  section: SectionName,
  placed: readonly IndexedItem[],
  site: {
    readonly current: ReadonlyMap<string, SiteItem>
    readonly known: ReadonlyMap<string, PutAction> | undefined
    readonly displaces: boolean
    /** What was given its name by the plan, as links name it. */
    readonly renamed: ReadonlySet<string>
  },
): SectionPlan {
  const displaced = new Set<string>()
  for (const { item } of site.displaces ? placed : []) {
    const before = site.current.get(item.name)
    if (before && item.mustReplace?.(before)) displaced.add(item.name)
  }
  const staying = new Set(
    placed.map(({ item }) => item.name).filter((name) => !displaced.has(name)),
  )
  const toDelete = [...site.current.keys()].filter((name) => !staying.has(name))
  const beforeOf = ({ name }: DefinedItem): SiteItem | undefined =>
    displaced.has(name) ? undefined : site.current.get(name)
  return {
    puts: placed.map(({ item }) => {
      const put = putChange(section, item, { before: beforeOf(item), known: site.known })
      const isRenamed = site.renamed.has(itemKey(section, item.name))
      return isRenamed ? { ...put, action: 'rename' } : put
    }),
    deletions: toDelete.map((name) => ({
      section,
      name,
      action: 'delete',
      fields: [],
      renamedFrom: null,
    })),
    displaced: [...displaced].map((name) => itemKey(section, name)),
    faults: placed.flatMap(({ index, item }) => {
      const before = beforeOf(item)
      const fault = before && item.conflict?.(before)
      return fault ? [{ ...fault, field: `${section}[${index}].${fault.field}` }] : []
    }),
  }
}

/** What links to a displaced thing by its name has to be bound to the new one, though it reads the same. */
function withDisplacedLinks(
  put: Change,
  definition: ParsedDefinition,
  displaced: ReadonlySet<string>,
): Change {
  if (put.action !== 'none' || displaced.size === 0) return put
  const item = definition.get(put.section)?.find((placed) => placed.item.name === put.name)?.item
  const links =
    item?.links.filter(({ section, name }) => displaced.has(itemKey(section, name))) ?? []
  if (links.length === 0) return put
  const fields = new Set(links.map(({ field }) => field.replace(/\[.*$/, '')))
  return { ...put, action: 'update', fields: [...fields] }
}

function putChange(
  section: SectionName,
  item: DefinedItem,
  site: {
    readonly before: SiteItem | undefined
    readonly known: ReadonlyMap<string, PutAction> | undefined
  },
): Change {
  const { name, renamedFrom = null } = item
  const change = { section, name, renamedFrom }
  if (site.before === undefined) return { ...change, action: 'create', fields: [] }
  const fields = changedFields(site.before.canonical, item.canonical, item.partial === true)
  const action = site.known?.get(name) ?? (fields.length === 0 ? 'none' : 'update')
  return { ...change, action, fields: action === 'update' ? fields : [] }
}

/** The names of the fields in which two items differ; of those that `after` has, when it is `partial`. */
export function changedFields(
  before: SiteItem['canonical'],
  after: SiteItem['canonical'],
  partial: boolean,
): string[] {
  return Object.keys(partial ? after : { ...before, ...after })
    .flatMap((name) => changedPaths(name, [before[name], after[name]], DEPTH - 1))
    .slice(0, MAX_FIELDS)
}

function changedPaths(
  at: string,
  [before, after]: readonly [unknown, unknown],
  depth: number,
): string[] {
  if (isDeepStrictEqual(before, after)) return []
  if (depth === 0 || !isJsonObject(before) || !isJsonObject(after)) return [at]
  return Object.keys({ ...before, ...after }).flatMap((name) =>
    changedPaths(`${at}.${name}`, [before[name], after[name]], depth - 1),
  )
}

/** Tables and buckets before the functions that are granted them; when something goes, the other way round. */
function inApplyOrder(
  puts: readonly Change[],
  deletions: readonly Change[],
  of: { readonly definition: ParsedDefinition; readonly site: SiteState },
): Change[] {
  const defined = bySectionOrder((of.definition.get('resources') ?? []).map(({ item }) => item))
  const there = bySectionOrder(of.site.get('resources') ?? [])
  return [...puts.toSorted(defined), ...deletions.toSorted((a, b) => there(b, a))]
}

function bySectionOrder(resources: readonly SiteItem[]): (a: Change, b: Change) => number {
  const functions = new Set(
    resources.filter(({ type }) => type === 'lambdaFunction').map(({ name }) => name),
  )
  const rank = ({ section, name }: Change): number =>
    SECTION_NAMES.indexOf(section) * 2 + Number(section === 'resources' && functions.has(name))
  return (a, b) => rank(a) - rank(b) || byName(a, b)
}
