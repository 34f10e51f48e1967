/** The channels of the service and what they say. At most 8000 bytes of JSON each (a Postgres limit). */
export interface NotificationChannels {
  /** A site's directory entry changed or went away. */
  croft_site: { readonly siteId: string; readonly domains: readonly string[] }
  /** Another deployment's public files are current. */
  croft_static: { readonly siteId: string }
  /** A new revision is current. */
  croft_revision: { readonly siteId: string; readonly revision: number }
  /** Cached answers of an operation were dropped. */
  croft_cache: { readonly siteId: string; readonly operation: string; readonly version: string }
  /** A pool's keys changed; with `sub`, only that user's standing did. */
  croft_tokens: { readonly siteId: string; readonly sub?: string }
  /** New log lines of a site, for those who watch live. */
  croft_log: { readonly siteId: string; readonly upTo: string }
  /** A message of a mailbox came, went or changed, or who may read it did. */
  croft_mail: { readonly siteId: string; readonly mailboxId: string }
  /** A site's mail addresses, or where they lead, may have changed. */
  croft_mail_addresses: { readonly siteId: string }
  /** Jobs of a site may be due sooner than before. */
  croft_jobs_due: { readonly siteId: string }
  /** A job was put on a queue. */
  croft_queue: { readonly queue: string }
}

export type Channel = keyof NotificationChannels
