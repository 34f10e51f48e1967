import type { FieldFault } from '#base/app-error.ts'

import type { Change, SiteState } from './plan.ts'
import type { Section, SectionName } from './section.ts'

/**
 * Sections of which the site would hold too much on the way: what is new is made before anything is deleted. A section
 * that says itself what its items come to finds that out on its own.
 */
export function roomFaults(
  changes: readonly Change[],
  site: SiteState,
  sections: readonly Pick<Section, 'name' | 'maxItems' | 'actions'>[],
): FieldFault[] {
  return sections.flatMap(({ name, maxItems, actions }) => {
    const has = site.get(name)?.length ?? 0
    const added = count(changes, name, 'create')
    if (actions || added === 0 || has + added <= maxItems) return []
    const left = has + added - count(changes, name, 'delete')
    const advice =
      left > maxItems
        ? 'leave some out, or delete some first'
        : 'what goes is deleted after what comes is made, so send it in two steps'
    const message = `the site has ${has} and this adds ${added}, where at most ${maxItems} have room: ${advice}`
    return [{ field: name, message }]
  })
}

const count = (changes: readonly Change[], name: SectionName, kind: Change['action']): number =>
  changes.filter(({ section, action }) => section === name && action === kind).length
