import type { FieldFault } from '#base/app-error.ts'

import type { Change, SiteState } from './plan.ts'
import type { DefinitionSection, SectionName } from './section.ts'

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
