import type { FieldFault } from '#base/app-error.ts'

import { changedFields } from './changed-fields.ts'
import { linkFaults } from './links.ts'
import { type ParsedDefinition, compare } from './parse.ts'
import {
  type DefinedItem,
  type PlacedItem,
  type PutAction,
  SECTIONS,
  type SectionName,
  type SiteItem,
} from './section.ts'

export type Mode = 'plan' | 'apply' | 'replace'
export type Action = PutAction | 'delete'

export interface Change {
  readonly section: SectionName
  readonly name: string
  readonly action: Action
  /** What an update changes; never values. */
  readonly fields: readonly string[]
}

/** Everything that a site has, section by section. */
export type SiteState = ReadonlyMap<SectionName, readonly SiteItem[]>
/** What the canonical forms of some items do not tell. */
export type KnownActions = ReadonlyMap<SectionName, ReadonlyMap<string, PutAction>>

export interface Plan {
  /** In the order in which they are carried out. */
  readonly changes: readonly Change[]
  /** Why it cannot be carried out. */
  readonly faults: readonly FieldFault[]
}

/**
 * What makes `site` what `definition` says. A section that is absent is left alone. `plan` shows the whole difference,
 * also what only `replace` deletes, and asks no more than `apply` does.
 */
export function planChanges(
  definition: ParsedDefinition,
  site: SiteState,
  how: { readonly mode: Mode; readonly known: KnownActions },
): Plan {
  const { mode, known } = how
  const parts = [...definition].map(([section, placed]) =>
    planSection(section, placed, {
      current: new Map((site.get(section) ?? []).map((item) => [item.name, item])),
      known: known.get(section),
    }),
  )
  const puts = parts.flatMap((part) => part.puts)
  const deletions = mode === 'apply' ? [] : parts.flatMap((part) => part.deletions)
  const changes = inOrder(puts, deletions, { definition, site })
  const faults = [
    ...parts.flatMap((part) => part.faults),
    ...linkFaults(definition, site, mode === 'replace' ? changes : puts),
  ]
  return { changes, faults }
}

interface SectionPlan extends Pick<Plan, 'faults'> {
  readonly puts: readonly Change[]
  /** What the site has and the definition does not name. */
  readonly deletions: readonly Change[]
}

function planSection(
  section: SectionName,
  placed: readonly PlacedItem[],
  site: {
    readonly current: ReadonlyMap<string, SiteItem>
    readonly known: ReadonlyMap<string, PutAction> | undefined
  },
): SectionPlan {
  const wanted = new Set(placed.map(({ item }) => item.name))
  const unnamed = [...site.current.keys()].filter((name) => !wanted.has(name))
  return {
    puts: placed.map(({ item }) =>
      putOf(section, item, { before: site.current.get(item.name), known: site.known }),
    ),
    deletions: unnamed.map((name) => ({ section, name, action: 'delete', fields: [] })),
    faults: placed.flatMap(({ at, item }) => {
      const before = site.current.get(item.name)
      const fault = before && item.conflict?.(before)
      return fault ? [{ ...fault, field: `${section}[${at}].${fault.field}` }] : []
    }),
  }
}

function putOf(
  section: SectionName,
  item: DefinedItem,
  site: {
    readonly before: SiteItem | undefined
    readonly known: ReadonlyMap<string, PutAction> | undefined
  },
): Change {
  const { name } = item
  if (site.before === undefined) return { section, name, action: 'create', fields: [] }
  const fields = changedFields(site.before.canonical, item.canonical, item.partial === true)
  const action = site.known?.get(name) ?? (fields.length === 0 ? 'none' : 'update')
  return { section, name, action, fields: action === 'update' ? fields : [] }
}

/** Tables and buckets before the functions that are granted them; when something goes, the other way round. */
function inOrder(
  puts: readonly Change[],
  deletions: readonly Change[],
  of: { readonly definition: ParsedDefinition; readonly site: SiteState },
): Change[] {
  const functions = new Set<string>()
  for (const { item } of of.definition.get('resources') ?? []) {
    if (item.type === 'lambdaFunction') functions.add(item.name)
  }
  for (const item of of.site.get('resources') ?? []) {
    if (item.type === 'lambdaFunction') functions.add(item.name)
  }
  const rank = ({ section, name }: Change): number =>
    SECTIONS.indexOf(section) * 2 + Number(section === 'resources' && functions.has(name))
  const inRank = (a: Change, b: Change): number => rank(a) - rank(b) || compare(a.name, b.name)
  return [...puts.toSorted(inRank), ...deletions.toSorted((a, b) => inRank(b, a))]
}
