import {
  type Cost,
  fits,
  growthIn,
  isNothing,
  larger,
  minus,
  NOTHING,
  plus,
  smaller,
} from './cost.ts'
import { type EndedWrite, RoomCharge, type RoomSource } from './room-charge.ts'

/** Room that nobody renewed for so long is not used any more: others take its holder for dead later. */
const VALID_MS = 30_000
/** What a process asks for on top of what it needs: twice what it wrote lately, within these bounds. */
const LEAST_WISH: Cost = { bytes: 1024 ** 2, items: 1000 }
const MOST_WISH: Cost = { bytes: 32 * 1024 ** 2, items: 50_000 }
/** From here on writes look at what is there, so that what is replaced or deleted is known. */
const TIGHT_SHARE = 0.8

/** What one process tells its site's account, and asks of it. */
export interface Told {
  readonly epoch: number
  readonly wrote: boolean
  readonly gain: Cost
  readonly loss: Cost
  /** Of its room. */
  readonly kept: Cost
  readonly asked: Cost
  readonly wish: Cost
}

/** What the account answers. */
export interface Heard {
  readonly granted: boolean
  /** What was asked for and what came on top. */
  readonly room: Cost
  readonly used: Cost
  /** Of other processes. */
  readonly others: Cost
  readonly limits: Cost
  readonly epoch: number
}

/** What one process may still write for a site without asking anybody. Nothing here waits. */
export class SiteRoom implements RoomSource {
  readonly #now: () => number
  #free = NOTHING
  /** By writes that run. */
  #held = NOTHING
  #running = 0
  #gain = NOTHING
  #loss = NOTHING
  #wrote = false
  #lately = NOTHING
  #epoch = 0
  #tight = false
  #heardAt: number | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether the site is close to a limit. */
  get tight(): boolean {
    return this.#tight
  }

  /** Whether the account was heard at all. */
  get known(): boolean {
    return this.#heardAt !== undefined
  }

  /** Of the account, as it was heard last. */
  get epoch(): number {
    return this.#epoch
  }

  /** Whether something was written that the account does not know. */
  get untold(): boolean {
    return this.#wrote
  }

  /** Whether it may be forgotten. */
  get empty(): boolean {
    return !this.#wrote && this.#running === 0 && isNothing(plus(this.#free, this.#held))
  }

  /** A write begins: until `leave` the room is not forgotten. */
  enter(): void {
    this.#running += 1
  }

  leave(): void {
    this.#running -= 1
  }

  /** `held` was taken for it before. */
  charge(exact: boolean, held: Cost = NOTHING): RoomCharge {
    return new RoomCharge(this, exact, held)
  }

  hold(more: Cost): boolean {
    if (this.#now() - (this.#heardAt ?? 0) > VALID_MS) this.#free = NOTHING
    const free = minus(this.#free, more)
    if ((more.bytes > 0 && free.bytes < 0) || (more.items > 0 && free.items < 0)) return false
    this.#free = free
    this.#held = plus(this.#held, more)
    return true
  }

  finish({ held, growth, epoch }: EndedWrite): void {
    const gain = growth === 'unknown' ? held : growthIn(growth ?? NOTHING)
    this.#held = minus(this.#held, held)
    this.#free = plus(this.#free, minus(held, gain))
    this.#gain = plus(this.#gain, gain)
    this.#wrote ||= growth !== undefined
    // Under another epoch it may have been counted without what was removed.
    if (growth === undefined || growth === 'unknown' || epoch !== this.#epoch) return
    this.#loss = plus(this.#loss, minus(gain, growth))
  }

  /** Begins an exchange that asks for room, and for more if there is plenty. What is free is handed back with it. */
  ask(asked: Cost): Told {
    this.#free = NOTHING
    const twice = plus(this.#gain, this.#gain)
    return this.#tell(asked, smaller(larger(twice, LEAST_WISH), MOST_WISH))
  }

  /** Gives up what is free. */
  close(): void {
    this.#free = NOTHING
  }

  /** Begins an exchange that asks for nothing and hands back what would not be used soon. */
  settle(): Told {
    this.#free = smaller(this.#free, plus(this.#lately, this.#gain))
    this.#lately = this.#gain
    return this.#tell(NOTHING, NOTHING)
  }

  heard({ asked }: Told, answer: Heard): void {
    if (answer.epoch !== this.#epoch) this.#loss = NOTHING
    this.#epoch = answer.epoch
    this.#heardAt = this.#now()
    if (answer.granted) {
      this.#held = plus(this.#held, asked)
      this.#free = plus(this.#free, minus(answer.room, asked))
    }
    const { used, others, limits } = answer
    const taken = plus(plus(used, others), plus(this.#held, this.#free))
    this.#tight = !fits(taken, {
      bytes: limits.bytes * TIGHT_SHARE,
      items: limits.items * TIGHT_SHARE,
    })
    if (!fits(taken, limits)) this.#free = NOTHING
  }

  /** Nobody knows whether the account heard it: what was gained is told again, what was lost is not. */
  unheard(told: Told): void {
    this.#gain = plus(this.#gain, told.gain)
    this.#wrote ||= told.wrote
  }

  #tell(asked: Cost, wish: Cost): Told {
    const told = {
      epoch: this.#epoch,
      wrote: this.#wrote,
      gain: this.#gain,
      loss: this.#loss,
      kept: plus(this.#held, this.#free),
      asked,
      wish,
    }
    this.#gain = NOTHING
    this.#loss = NOTHING
    this.#wrote = false
    return told
  }
}
