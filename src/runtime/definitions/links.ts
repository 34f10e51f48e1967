import type { FieldFault } from '#base/app-error.ts'
import { didYouMean } from '#base/did-you-mean.ts'

import type { ParsedDefinition } from './parse.ts'
import type { Change, SiteState } from './plan.ts'
import type { Link, SectionName, SiteItem } from './section.ts'

const LABELS: Readonly<Record<Link['section'], string>> = {
  envVars: 'environment variable',
  groups: 'group',
  resources: 'resource',
  operations: 'operation',
}

/** Names every link that would point to nothing, or to the wrong kind of thing, once the changes are made. */
export function linkFaults(
  definition: ParsedDefinition,
  site: SiteState,
  changes: readonly Change[],
): FieldFault[] {
  const after = itemsAfter(definition, site, changes)
  const deleted = itemKeys(changes.filter(({ action }) => action === 'delete'))
  const changed = itemKeys(changes.filter(({ action }) => action !== 'delete' && action !== 'none'))
  const faults: FieldFault[] = []
  for (const [section, placed] of definition) {
    for (const { index, item } of placed) {
      // An item that does not change may keep a link that was broken before.
      const links = changed.has(itemKey(section, item.name))
        ? item.links
        : linksToDeleted(item, deleted)
      for (const link of links) {
        if (wasUnset(link, item, site)) continue
        const message = linkFault(link, after)
        if (message) faults.push({ field: `${section}[${index}].${link.field}`, message })
      }
    }
  }
  return [...faults, ...brokenLinkFaults(definition, site, deleted)]
}

type Names = ReadonlyMap<SectionName, ReadonlyMap<string, SiteItem>>

function itemsAfter(
  definition: ParsedDefinition,
  site: SiteState,
  changes: readonly Change[],
): Names {
  const after = new Map<SectionName, Map<string, SiteItem>>()
  for (const [section, items] of site) {
    after.set(section, new Map(items.map((item) => [item.name, item])))
  }
  // A deleted thing may be created again under its name.
  for (const { section, name, action } of changes) {
    if (action === 'delete') after.get(section)?.delete(name)
  }
  for (const [section, placed] of definition) {
    const names = after.get(section) ?? new Map<string, SiteItem>()
    for (const { item } of placed) names.set(item.name, item)
    after.set(section, names)
  }
  return after
}

function linkFault({ section, name, types }: Link, after: Names): string | undefined {
  const target = after.get(section)?.get(name)
  const thing = `${LABELS[section]} "${name}"`
  if (!target) {
    const meant = didYouMean(name, [...(after.get(section)?.keys() ?? [])])
    const hint = meant === undefined ? '' : `: did you mean "${meant}"?`
    return `${thing} is neither in the definition nor on the site${hint}`
  }
  if (types === undefined || target.type === undefined || types.includes(target.type)) {
    return undefined
  }
  return `"${name}" is a ${target.type}, this takes a ${types.join(' or ')}`
}

/** A variable that the site's function already names without it being set: the permission sync warns of it. */
function wasUnset(link: Link, { name }: SiteItem, site: SiteState): boolean {
  if (link.section !== 'envVars') return false
  if (site.get('envVars')?.some((variable) => variable.name === link.name)) return false
  const current = site.get('resources')?.find((resource) => resource.name === name)
  return (
    current?.links.some((known) => known.section === 'envVars' && known.name === link.name) === true
  )
}

/** Names the items of sections that the definition leaves alone which link to what would be deleted. */
function brokenLinkFaults(
  definition: ParsedDefinition,
  site: SiteState,
  deleted: ReadonlySet<string>,
): FieldFault[] {
  const faults: FieldFault[] = []
  for (const [section, items] of site) {
    if (definition.has(section)) continue
    for (const item of items) {
      for (const link of linksToDeleted(item, deleted)) {
        const message = `"${link.name}" would be deleted, but ${section} holds "${item.name}", which depends on it: keep it, or name what shall become of ${section}`
        faults.push({ field: link.section, message })
      }
    }
  }
  return faults
}

const linksToDeleted = ({ links }: SiteItem, deleted: ReadonlySet<string>): Link[] =>
  links.filter(({ section, name }) => deleted.has(itemKey(section, name)))

const itemKeys = (changes: readonly Change[]): ReadonlySet<string> =>
  new Set(changes.map(({ section, name }) => itemKey(section, name)))

/** An item as links name it. */
export const itemKey = (section: SectionName, name: string): string => `${section}/${name}`
