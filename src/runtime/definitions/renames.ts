import type { FieldFault } from '#base/app-error.ts'

import type { ParsedDefinition } from './parse.ts'
import type { SectionName, SiteItem } from './section.ts'

/** A thing of the site that keeps what it holds under another name. */
export interface Rename {
  readonly section: SectionName
  readonly from: string
  readonly to: string
}

/**
 * What the definition gives another name, of what the site has. One that was renamed already is nothing to do, one of which
 * neither name is there is created again; where both are, it is unknown which of them is meant.
 */
export function plannedRenames(
  definition: ParsedDefinition,
  site: ReadonlyMap<SectionName, readonly SiteItem[]>,
): { readonly renames: readonly Rename[]; readonly faults: readonly FieldFault[] } {
  const renames: Rename[] = []
  const faults: FieldFault[] = []
  for (const [section, placed] of definition) {
    const there = new Map((site.get(section) ?? []).map((item) => [item.name, item]))
    for (const { index, item } of placed) {
      const from = item.renamedFrom
      const before = from === undefined ? undefined : there.get(from)
      if (from === undefined || !before) continue
      const message = there.has(item.name) ? bothThere(from, item.name) : otherType(before, item)
      if (message === undefined) renames.push({ section, from, to: item.name })
      else faults.push({ field: `${section}[${index}].renamedFrom`, message })
    }
  }
  return { renames, faults }
}

/** What the definition alone says against a name before. */
export function renameFault(
  { name, renamedFrom }: Pick<SiteItem, 'name'> & { readonly renamedFrom?: string },
  all: readonly (Pick<SiteItem, 'name'> & { readonly renamedFrom?: string })[],
): string | undefined {
  if (renamedFrom === undefined) return undefined
  if (renamedFrom === name) return 'is the name that it has: leave it out'
  if (all.some((other) => other.name === renamedFrom)) {
    return `"${renamedFrom}" is defined here as well: to swap or pass on names, rename in one job and define the other in the next`
  }
  const sharing = all.filter((other) => other.renamedFrom === renamedFrom)
  return sharing.length > 1 ? `"${renamedFrom}" can become one thing only` : undefined
}

export const bothThere = (from: string, to: string): string =>
  `"${from}" and "${to}" are both on the site: delete one of them, or leave "renamedFrom" out`

function otherType(before: SiteItem, item: SiteItem): string | undefined {
  if (before.type === item.type) return undefined
  return `"${before.name}" is a ${before.type}, which cannot become a ${item.type}`
}
