import { doubledMs } from '#base/backoff.ts'
import type { Logger } from '#platform/log/logger.ts'

import { BALLAST_BYTES, type Ballast } from './ballast.ts'
import { type DiskPlace, type WatchedDisk, type WatchedDisks, diskFull } from './disk-room.ts'
import { type FreeSpace, freeSpaceOf } from './free-space.ts'

const MIB = 1024 * 1024
const LOOK_MS = 1000
/** Close to the reserve a fast disk could be full before the next look. */
const CLOSE_LOOK_MS = 250
/** Enough for the log that PostgreSQL writes ahead, which may grow by 256 MB before it is recycled, and for some hours of small writes. */
const RESERVE_BYTES = 512 * MIB
/** A small disk keeps no more than this of itself. */
const RESERVE_SHARE = 0.1
/** What must be free, as a multiple of the reserve, before writes go on. */
const ENOUGH = 1.25
/** Below this the ballast goes. */
const NEARLY_NOTHING = BALLAST_BYTES / 2
/** With so much left beside four reserves no ballast is needed: filling that gives time to make it. */
const PLENTY_BYTES = 1024 * MIB
const REMINDER = { firstMs: 10 * 60_000, lastMs: 6 * 3600_000 }

const NAMES: Readonly<Record<DiskPlace, string>> = {
  folder: 'The data folder',
  database: 'The database',
  objects: 'The object store',
}

export interface DiskSpaceDeps {
  /** The folders that are watched. A place without one always has room. */
  readonly places: Readonly<Partial<Record<DiskPlace, string>>>
  /** Bytes; 512 MB, or a tenth of a small disk, when left out. */
  readonly reserveBytes: number | undefined
  /** On the disk of the database. */
  readonly ballast?: Ballast | undefined
  readonly log: Pick<Logger, 'error' | 'warn' | 'info'>
  readonly freeSpace?: (folder: string) => Promise<FreeSpace>
}

/**
 * Watches what is left on the disks. Below the reserve, whatever makes a place grow is refused; above it, and a quarter more, it is taken
 * again. The log says it at the beginning and at the end, with the number of refusals, and now and then between.
 */
export class DiskSpace implements WatchedDisks, Disposable {
  readonly #deps: DiskSpaceDeps
  #disks: readonly WatchedDisk[]
  readonly #freeSpace: NonNullable<DiskSpaceDeps['freeSpace']>
  #timer: NodeJS.Timeout | undefined
  #isOver = false
  #cannotLook = false
  #fullSinceMs = 0
  #refused = 0
  #reminders = 0
  #remindAtMs = 0
  /** Never rejects. */
  #looked = Promise.resolve()

  private constructor(deps: DiskSpaceDeps) {
    this.#deps = deps
    this.#freeSpace = deps.freeSpace ?? freeSpaceOf
    this.#disks = Object.entries(deps.places).map(([place, path]) => ({
      place: place as DiskPlace,
      path,
      freeBytes: 0,
      totalBytes: 0,
      reserveBytes: 0,
      isFull: false,
    }))
  }

  /** Has looked once. */
  static async open(deps: DiskSpaceDeps): Promise<DiskSpace> {
    const space = new DiskSpace(deps)
    await space.look()
    space.#lookLater()
    return space
  }

  check(...places: readonly DiskPlace[]): void {
    const full = this.#disks.find(({ place, isFull }) => isFull && places.includes(place))
    if (full === undefined) return
    this.#refused += 1
    throw diskFull(NAMES[full.place])
  }

  isFull(...places: readonly DiskPlace[]): boolean {
    return this.#disks.some(({ place, isFull }) => isFull && places.includes(place))
  }

  get disks(): readonly WatchedDisk[] {
    return this.#disks
  }

  /** Looks now, or when the look in progress is over: two would write the same ballast. */
  look(): Promise<void> {
    this.#looked = this.#looked.then(() => this.#look())
    return this.#looked
  }

  async #look(): Promise<void> {
    const wasFull = this.#isAnyFull
    try {
      this.#disks = await Promise.all(this.#disks.map((disk) => this.#lookAt(disk)))
      this.#cannotLook = false
    } catch (error) {
      if (!this.#cannotLook)
        this.#deps.log.warn({ err: error }, 'cannot see what is left on a disk')
      this.#cannotLook = true
    }
    this.#tell(wasFull)
    await this.#keepBallast()
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  get #isAnyFull(): boolean {
    return this.#disks.some(({ isFull }) => isFull)
  }

  #lookLater(): void {
    if (this.#isOver) return
    const isClose = this.#disks.some((disk) => disk.freeBytes < 2 * disk.reserveBytes)
    const look = (): void => void this.look().finally(() => this.#lookLater())
    this.#timer = setTimeout(look, isClose ? CLOSE_LOOK_MS : LOOK_MS)
    this.#timer.unref()
  }

  async #lookAt(disk: WatchedDisk): Promise<WatchedDisk> {
    const { freeBytes, totalBytes } = await this.#freeSpace(disk.path)
    const share = Math.floor(totalBytes * RESERVE_SHARE)
    const reserveBytes = this.#deps.reserveBytes ?? Math.min(RESERVE_BYTES, share)
    const isFull = freeBytes < reserveBytes * (disk.isFull ? ENOUGH : 1)
    return { ...disk, freeBytes, totalBytes, reserveBytes, isFull }
  }

  #tell(wasFull: boolean): void {
    const nowMs = performance.now()
    const full = this.#disks.filter(({ isFull }) => isFull)
    if (full.length > 0 && !wasFull) {
      this.#fullSinceMs = nowMs
      this.#refused = 0
      this.#reminders = 0
      this.#remindLater(nowMs)
      this.#deps.log.error(
        { disks: full },
        'a disk is full: writes are refused until there is room',
      )
    } else if (full.length > 0 && nowMs > this.#remindAtMs) {
      this.#remindLater(nowMs)
      this.#deps.log.warn({ disks: full, refused: this.#refused }, 'a disk is still full')
    } else if (full.length === 0 && wasFull) {
      const fullMs = Math.round(nowMs - this.#fullSinceMs)
      const refused = this.#refused
      this.#deps.log.info({ fullMs, refused }, 'there is room on the disk again')
    }
  }

  #remindLater(nowMs: number): void {
    this.#remindAtMs = nowMs + doubledMs(REMINDER.firstMs, this.#reminders, REMINDER.lastMs)
    this.#reminders += 1
  }

  async #keepBallast(): Promise<void> {
    const { ballast, log } = this.#deps
    const disk = this.#disks.find(({ place }) => place === 'database')
    if (ballast === undefined || disk === undefined) return
    try {
      if (disk.freeBytes < NEARLY_NOTHING) {
        const isReleased = await ballast.release()
        if (isReleased) log.warn(disk, 'gave the database its last room')
      } else if (needsBallast(disk) && !(await ballast.exists())) {
        await ballast.restore()
      }
    } catch (error) {
      log.warn({ err: error }, 'the ballast of the database cannot be kept')
    }
  }
}

/** Where there is room for it, and not so much that it serves nothing. */
const needsBallast = ({ isFull, freeBytes, reserveBytes }: WatchedDisk): boolean =>
  !isFull &&
  freeBytes > reserveBytes * ENOUGH + BALLAST_BYTES &&
  freeBytes < reserveBytes * 4 + PLENTY_BYTES
