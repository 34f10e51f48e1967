import type { DataGroups } from '#identity/groups/data-groups.ts'
import { type DataGroup, MAX_GROUPS, NewDataGroup, parseGroup } from '#identity/groups/model.ts'
import type { DefinedItem, DefinitionSection, SiteItem } from '#runtime/definitions/section.ts'
import { parseShape } from '#runtime/shape.ts'

export type GroupDirectory = Pick<DataGroups, 'all' | 'put' | 'rename' | 'delete' | 'missing'>

/** Groups of a site's visitors; who is in them is no part of a definition. */
export const groupSection = (groups: GroupDirectory): DefinitionSection => ({
  name: 'groups',
  maxItems: MAX_GROUPS,
  parse(value): DefinedItem {
    const group = parseGroup(parseShape(NewDataGroup, value))
    return {
      ...itemOf(group),
      put: (tx, { actor: by, toDelete }) => groups.put(tx, group, { by, toDelete: toDelete.size }),
    }
  },
  all: async (tx) => (await groups.all(tx)).map(itemOf),
  rename: (tx, names, { actor }) => groups.rename(tx, names, actor),
  delete: (tx, name, { actor }) => groups.delete(tx, name, actor),
})

const itemOf = ({ groupName, description }: DataGroup): SiteItem => ({
  name: groupName,
  canonical: { groupName, description },
  links: [],
})
