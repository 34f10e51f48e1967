import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { RoomNeeded } from './charge.ts'
import { type Cost, fits, growthIn, minus, NOTHING, plus, smaller } from './cost.ts'
import type { RoomCharge } from './room-charge.ts'
import { type Heard, SiteRoom, type Told } from './site-room.ts'

const cost = (bytes: number, items = 1): Cost => ({ bytes, items })
const LIMITS = cost(3000, 8)

/** The account of a site as `table_room_exchange` keeps it. */
class Account {
  used = NOTHING
  epoch = 0
  readonly #rooms = new Map<SiteRoom, Cost>()
  readonly #mostWish: Cost

  constructor(mostWish: Cost) {
    this.#mostWish = mostWish
  }

  get taken(): Cost {
    return [...this.#rooms.values()].reduce(plus, this.used)
  }

  answer(holder: SiteRoom, told: Told): Heard {
    const loss = told.epoch === this.epoch ? told.loss : NOTHING
    this.used = growthIn(minus(plus(this.used, told.gain), loss))
    this.#rooms.set(holder, told.kept)
    const others = minus(minus(this.taken, this.used), told.kept)
    const left = minus(LIMITS, this.taken)
    const granted =
      (told.asked.bytes <= 0 || told.asked.bytes <= left.bytes) &&
      (told.asked.items <= 0 || told.asked.items <= left.items)
    const extra = growthIn(smaller(smaller(told.wish, this.#mostWish), minus(left, told.asked)))
    const room = granted ? plus(told.asked, extra) : NOTHING
    this.#rooms.set(holder, plus(told.kept, room))
    return { granted, room, used: this.used, others, limits: LIMITS, epoch: this.epoch }
  }
}

/** One process, and an exchange of it that is on its way. */
class Holder {
  readonly room = new SiteRoom(() => 0)
  readonly #account: Account
  #told: Told | undefined
  #answer: Heard | undefined

  constructor(account: Account) {
    this.#account = account
  }

  /** One of: it is told, it is answered, the answer is heard. */
  settleStep(): void {
    if (this.#told === undefined) this.#told = this.room.settle()
    else if (this.#answer === undefined) this.#answer = this.#account.answer(this.room, this.#told)
    else {
      this.room.heard(this.#told, this.#answer)
      this.#told = this.#answer = undefined
    }
  }

  /** The connection is gone, before it was answered or after. */
  lose(): void {
    if (this.#told !== undefined) this.room.unheard(this.#told)
    this.#told = this.#answer = undefined
  }

  /** A write that asks once when it has to; undefined when it was refused. */
  begin(by: Cost): RoomCharge | undefined {
    const first = this.room.charge(true)
    try {
      first.grow(by)
      return first
    } catch (error) {
      if (!(error instanceof RoomNeeded)) throw error
      first.failed(error)
      while (this.#told !== undefined) this.settleStep()
      const told = this.room.ask(error.asked)
      const answer = this.#account.answer(this.room, told)
      this.room.heard(told, answer)
      if (!answer.granted) return undefined
      const second = this.room.charge(true, error.asked)
      second.grow(by)
      return second
    }
  }
}

const KINDS = ['write', 'write', 'write', 'end', 'end', 'fail', 'settle', 'lose', 'count'] as const

describe('room', () => {
  test('never lets more be stored than the limit, whatever fails, ends or is counted in between', () => {
    const step = fc.record({
      at: fc.nat(1),
      kind: fc.constantFrom(...KINDS, 'settle', 'settle'),
      by: fc.record({
        bytes: fc.integer({ min: -900, max: 900 }),
        items: fc.constantFrom(-1, 0, 1),
      }),
    })
    const wish = fc.constantFrom(NOTHING, cost(700, 2))
    fc.assert(
      fc.property(wish, fc.array(step, { minLength: 60, maxLength: 200 }), (mostWish, steps) => {
        const account = new Account(mostWish)
        const holders = [new Holder(account), new Holder(account)] as const
        const running: RoomCharge[] = []
        let stored = NOTHING
        const perform = {
          write(holder: Holder, by: Cost) {
            // Nobody removes what is not there.
            if (!fits(NOTHING, plus(stored, by))) return
            const charge = holder.begin(by)
            if (charge === undefined) return
            running.push(charge)
            stored = plus(stored, by)
          },
          end: () => running.shift()?.done(),
          fail: () => running.shift()?.failed(new Error('the connection is gone')),
          settle: (holder: Holder) => holder.settleStep(),
          lose: (holder: Holder) => holder.lose(),
          count() {
            account.epoch += 2
            account.used = stored
          },
        }
        for (const { at, kind, by } of steps) {
          perform[kind](holders[at === 0 ? 0 : 1], by)
          expect(fits(stored, LIMITS)).toBe(true)
          expect(fits(stored, account.taken)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  }, 30_000)

  test('that nobody renewed for half a minute is not used', () => {
    let now = 0
    const account = new Account(cost(700, 2))
    const room = new SiteRoom(() => now)
    const told = room.ask(NOTHING)
    room.heard(told, account.answer(room, told))
    room.charge(false).grow(cost(10))
    const charge = room.charge(false)
    now = 30_001
    expect(() => charge.grow(cost(10))).toThrow(RoomNeeded)
  })

  test('is asked for twice as much each time while it is used up, and handed back in two steps', () => {
    const room = new SiteRoom(() => 0)
    const heard = { granted: true, used: NOTHING, others: NOTHING, epoch: 0 }
    const plenty = { ...heard, limits: cost(1e12, 1e9) }
    const wishes = []
    for (let n = 0; n < 8; n++) {
      const told = room.ask(NOTHING)
      room.heard(told, { ...plenty, room: told.wish })
      wishes.push(told.wish.items)
      const charge = room.charge(false)
      charge.grow(told.wish)
      charge.done()
    }
    expect(wishes).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 50_000, 50_000])
    const told = room.ask(NOTHING)
    room.heard(told, { ...plenty, room: cost(9000, 90) })
    const kept = [room.settle(), room.settle(), room.settle()].map(({ kept: { items } }) => items)
    expect(kept).toEqual([0, 0, 0])
  })
})
