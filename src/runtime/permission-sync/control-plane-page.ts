import type { PageRequest, PageRows } from '#base/page.ts'
import type { Operation } from '#runtime/operations/model.ts'
import type { Resource } from '#runtime/resources/model.ts'

export interface ControlPlanePage {
  readonly resources: readonly Resource[]
  readonly operations: readonly Operation[]
  /** Of both lists; undefined at the end of both. */
  readonly lastKey: string | undefined
}

interface ControlPlaneLists {
  resources(page: PageRequest): Promise<PageRows<Resource>>
  operations(page: PageRequest): Promise<PageRows<Operation>>
}

/** Where each list goes on; null for one that has been seen to its end. */
type Cursor = Record<keyof ControlPlaneLists, string | null | undefined>

const START: Cursor = { resources: undefined, operations: undefined }
const NOTHING: PageRows<never> = { items: [], lastKey: undefined }

/** As many of each list as the page asks for: both go on side by side, until both have ended. */
export async function pageOfBoth(
  { limit, after }: PageRequest,
  lists: ControlPlaneLists,
): Promise<ControlPlanePage> {
  const cursor = after === undefined ? START : cursorOf(after)
  const from = <Row>(key: string | null | undefined, list: ControlPlaneList<Row>) =>
    key === null ? NOTHING : list({ limit, after: key })
  const resources = await from(cursor.resources, (page) => lists.resources(page))
  const operations = await from(cursor.operations, (page) => lists.operations(page))
  return {
    resources: resources.items,
    operations: operations.items,
    lastKey: keyOf(resources.lastKey, operations.lastKey),
  }
}

type ControlPlaneList<Row> = (page: PageRequest) => Promise<PageRows<Row>>

const keyOf = (resources: string | undefined, operations: string | undefined) =>
  resources === undefined && operations === undefined
    ? undefined
    : JSON.stringify([resources ?? null, operations ?? null])

/** The key is our own: a token is sealed. */
function cursorOf(key: string): Cursor {
  const [resources, operations] = JSON.parse(key) as [string | null, string | null]
  return { resources, operations }
}
