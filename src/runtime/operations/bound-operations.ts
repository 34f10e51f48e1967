import type { SiteTx } from '#platform/postgres/database.ts'

import { selectOperationsForGroup, selectOperationsOf, selectVersions } from './queries.ts'

/** Names of the operations that stand on a resource, whether as their function or through a preset. */
export const operationsBoundTo = (tx: SiteTx, resourceId: string): Promise<string[]> =>
  selectOperationsOf(tx, resourceId)

/** Names of the operations that only certain groups may call, the given one among them. */
export const operationsForGroup = (tx: SiteTx, groupName: string): Promise<string[]> =>
  selectOperationsForGroup(tx, groupName)

/** The version of every operation of the site, by name. */
export const operationVersions = (tx: SiteTx): Promise<ReadonlyMap<string, string>> =>
  selectVersions(tx)
