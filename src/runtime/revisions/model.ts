export type SyncStatus = 'queued' | 'running' | 'succeeded' | 'failed'

/** The state of a site's permission sync. */
export interface SyncState {
  readonly status: SyncStatus
  /** Counts the control plane's changes. */
  readonly requested: bigint
  /** The last change that a revision contains. */
  readonly synced: bigint
  /** Null before the first revision. */
  readonly currentRevision: number | null
  /** Why the last sync failed, in words for the site's admins. */
  readonly error: string | null
}

/** The state as HTTP answers carry it. */
export interface PermissionsSync {
  readonly status: SyncStatus
  readonly error?: string
}

export const permissionsSyncOf = (state: SyncState | undefined): PermissionsSync => {
  if (!state) return { status: 'queued' }
  if (state.status !== 'failed' || state.error === null) return { status: state.status }
  return { status: 'failed', error: state.error }
}
