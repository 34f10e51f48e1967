/** What the tables of one site may hold together. */
export interface TableLimits {
  readonly tableBytes: number
  readonly tableItems: number
}

export const DEFAULT_TABLE_LIMITS: TableLimits = {
  tableBytes: 10 * 1024 ** 3,
  tableItems: 10_000_000,
}
