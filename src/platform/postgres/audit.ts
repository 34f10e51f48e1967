import type { SiteTx } from './database.ts'

/** Is told of a change in its transaction, in words and numbers. */
export type Audit = (
  tx: SiteTx,
  detail: Readonly<Record<string, string | number | boolean>>,
) => Promise<void>
