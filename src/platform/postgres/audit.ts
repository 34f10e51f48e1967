import type { SiteTx } from './database.ts'

/** What the audit trail keeps of a change: short values, never a secret. */
export type AuditDetail = Readonly<Record<string, string | number | boolean>>

/** Records a change in the audit trail, in the transaction of the change. */
export type Audit<Event extends string = string> = (
  tx: SiteTx,
  entry: { readonly event: Event; readonly detail: AuditDetail },
) => Promise<void>
