import type { FieldFault } from '#base/app-error.ts'

import type { ParsedDefinition } from './parse.ts'
import type { Change, SiteState } from './plan.ts'
import type { Link, SectionName, SiteItem } from './section.ts'

const THINGS: Readonly<Record<Link['section'], string>> = {
  groups: 'group',
  resources: 'resource',
  operations: 'operation',
}

/** What would point to nothing once the changes are made, or to the wrong kind of thing. */
export function linkFaults(
  definition: ParsedDefinition,
  site: SiteState,
  changes: readonly Change[],
): FieldFault[] {
  const after = stateAfter(definition, site, changes)
  const gone = keysOf(changes.filter(({ action }) => action === 'delete'))
  const changed = keysOf(changes.filter(({ action }) => action !== 'delete' && action !== 'none'))
  const faults: FieldFault[] = []
  for (const [section, placed] of definition) {
    for (const { index, item } of placed) {
      // What is as it was may point where it pointed.
      const links = changed.has(keyOf(section, item.name))
        ? item.links.filter((link) => mustBeThere(link) || gone.has(keyOf(link.section, link.name)))
        : dangling(item, gone)
      for (const link of links) {
        const message = faultOf(link, after)
        if (message) faults.push({ field: `${section}[${index}].${link.field}`, message })
      }
    }
  }
  return [...faults, ...strandedFaults(definition, site, gone)]
}

/** An operation may name a group before there is one, as in its route: nobody is in it. */
const mustBeThere = ({ section }: Link): boolean => section !== 'groups'

type Names = ReadonlyMap<SectionName, ReadonlyMap<string, SiteItem>>

function stateAfter(
  definition: ParsedDefinition,
  site: SiteState,
  changes: readonly Change[],
): Names {
  const after = new Map<SectionName, Map<string, SiteItem>>()
  for (const [section, items] of site) {
    after.set(section, new Map(items.map((item) => [item.name, item])))
  }
  // What is deleted may be made anew under its name.
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

function faultOf({ section, name, types }: Link, after: Names): string | undefined {
  const target = after.get(section)?.get(name)
  const thing = `${THINGS[section]} "${name}"`
  if (!target) return `${thing} is neither in the definition nor on the site`
  if (types === undefined || target.type === undefined || types.includes(target.type)) {
    return undefined
  }
  return `"${name}" is a ${target.type}, this takes a ${types.join(' or ')}`
}

/** What stays on the site, in a section that the definition leaves alone, and stands on what would go. */
function strandedFaults(
  definition: ParsedDefinition,
  site: SiteState,
  gone: ReadonlySet<string>,
): FieldFault[] {
  const faults: FieldFault[] = []
  for (const [section, items] of site) {
    if (definition.has(section)) continue
    for (const item of items) {
      for (const link of dangling(item, gone)) {
        const message = `"${link.name}" would be deleted, but ${section} holds "${item.name}", which stands on it: keep it, or name what shall become of ${section}`
        faults.push({ field: link.section, message })
      }
    }
  }
  return faults
}

const dangling = ({ links }: SiteItem, gone: ReadonlySet<string>): Link[] =>
  links.filter(({ section, name }) => gone.has(keyOf(section, name)))

const keysOf = (changes: readonly Change[]): ReadonlySet<string> =>
  new Set(changes.map(({ section, name }) => keyOf(section, name)))

const keyOf = (section: SectionName, name: string): string => `${section}/${name}`
