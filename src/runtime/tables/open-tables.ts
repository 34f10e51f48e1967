import type { Clock } from '#base/clock.ts'
import type { PageTokens } from '#base/page.ts'
import type { Database } from '#platform/postgres/database.ts'
import type { Queue } from '#platform/queue/queue.ts'

import { TableBatches } from './batches/service.ts'
import { TableBuilds } from './builds/table-builds.ts'
import { TableEngine } from './engine.ts'
import { Tables } from './service.ts'
import { TableLayouts } from './store/table-layouts.ts'

export interface TableParts {
  readonly tables: Tables
  readonly tableEngine: TableEngine
  readonly tableLayouts: TableLayouts
  readonly tableBuilds: TableBuilds
}

/** The tables of all sites, and what builds and clears away their rows behind its queue. */
export function openTables(deps: {
  readonly database: Database
  readonly clock: Clock
  readonly queue: Queue
  readonly pageTokens: PageTokens
}): TableParts {
  const tableBuilds = new TableBuilds(deps)
  const tableLayouts = new TableLayouts({
    ...deps,
    requestBuild: (tx, tableId) => tableBuilds.request(tx, tableId),
  })
  const tableEngine = new TableEngine({ ...deps, layouts: tableLayouts })
  const batches = new TableBatches({ ...deps, layouts: tableLayouts })
  deps.queue.handle('table-build', (job, signal) => tableBuilds.run(job, signal))
  return {
    tables: new Tables({ ...deps, engine: tableEngine, batches }),
    tableEngine,
    tableLayouts,
    tableBuilds,
  }
}
