import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'

/** What has a file system of its own, or shares one: the data folder itself, the embedded database, objects in files. */
export type DiskPlace = 'folder' | 'database' | 'objects'

/** Whether there is room for what makes a place grow. Sign-in, deletes and whatever reads do not ask: the reserve is for them. */
export interface DiskRoom {
  /** Throws 503 `DiskFull` when one of the places is below its reserve. */
  check(...places: readonly DiskPlace[]): void
  isFull(...places: readonly DiskPlace[]): boolean
}

export interface WatchedDisk {
  readonly place: DiskPlace
  readonly path: string
  readonly freeBytes: number
  readonly totalBytes: number
  readonly reserveBytes: number
  readonly isFull: boolean
}

export interface WatchedDisks extends DiskRoom {
  /** What the last look found. */
  readonly disks: readonly WatchedDisk[]
}

/** For what has a disk of its own, or is not watched. */
export const ENOUGH_ROOM: WatchedDisks = { check() {}, isFull: () => false, disks: [] }

/** How long a refused client should wait: an operator has to make room. */
const RETRY_SECONDS = 30

/** `cause` is left out when it is logged already. */
export const diskFull = (what: string, cause?: unknown): AppError =>
  new AppError('DiskFull', `${what} has no room left: its disk is full`, {
    cause,
    retryAfterSeconds: RETRY_SECONDS,
    isLogged: cause === undefined,
  })

/** Whether that is why something failed, whatever has been made of the error. */
export const isDiskFull = (error: unknown): boolean =>
  hasCode(error, 'DiskFull') ||
  (error instanceof Error && error.cause !== undefined && isDiskFull(error.cause))
