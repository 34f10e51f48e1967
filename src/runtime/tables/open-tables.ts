import type { QueueJobs } from '#platform/queue/queue.ts'
import type { PlatformServices } from '#platform/services.ts'

import { TableEngine } from './engine.ts'
import { TableQuotas } from './quotas/table-quotas.ts'
import { selectItemCount } from './store/count-queries.ts'
import { TableBuilds } from './store/table-builds.ts'
import { TableLayouts } from './store/table-layouts.ts'
import { TableTransfer } from './table-transfer.ts'
import { Tables } from './tables.ts'

/** So that one large table does not hold up those of others. */
const BUILDERS = 3
/** In all processes. */
const BUILDERS_PER_SITE = 1

export interface TableServices {
  readonly tables: Tables
  readonly tableLayouts: TableLayouts
  readonly tableBuilds: TableBuilds
  readonly tableQuotas: TableQuotas
  readonly tableTransfer: TableTransfer
  /** Items of a table, among the first `most`. */
  readonly tableContents: typeof selectItemCount
  /** Removes what a deleted table held: in batches, and again without harm. */
  readonly dropTable: (siteId: string, resourceId: string, signal: AbortSignal) => Promise<void>
}

/** The tables of all sites, and what builds and clears away their rows behind its queue. */
export function openTables(
  deps: Pick<
    PlatformServices,
    'database' | 'clock' | 'ids' | 'logger' | 'queue' | 'pageTokens' | 'disk'
  >,
): TableServices {
  const tableBuilds = new TableBuilds(deps)
  const tableLayouts = new TableLayouts({
    ...deps,
    requestBuild: (tx, tableId) => tableBuilds.request(tx, tableId),
  })
  const tableQuotas = new TableQuotas(deps)
  const engine = new TableEngine({ ...deps, layouts: tableLayouts, quotas: tableQuotas })
  const build = async (job: QueueJobs['table-build'], signal: AbortSignal): Promise<void> => {
    await tableBuilds.run(job, signal)
    // It may have removed items that had ended.
    await tableQuotas.changed(job.siteId)
  }
  deps.queue.handle('table-build', build, { concurrency: BUILDERS, perSite: BUILDERS_PER_SITE })
  return {
    tables: new Tables({ ...deps, engine }),
    tableLayouts,
    tableBuilds,
    tableQuotas,
    tableTransfer: new TableTransfer({ ...deps, layouts: tableLayouts }),
    tableContents: selectItemCount,
    async dropTable(siteId, tableId, signal) {
      await tableBuilds.dropItems({ siteId, tableId }, signal)
      await tableQuotas.recount(siteId, signal)
    },
  }
}
