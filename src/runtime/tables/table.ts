import type { TableConfig } from './table-config.ts'

/** A table of one site, as a published revision or the control plane knows it. `tableId` is its resource id. */
export interface Table {
  readonly siteId: string
  readonly tableId: string
  readonly schema: TableConfig
}
