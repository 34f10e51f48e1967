import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { QuotaExhausted } from './charge.ts'
import { type Cost, fits, growthIn, minus, NOTHING, plus, smaller } from './cost.ts'
import { type QuotaGrant, QuotaLease, type QuotaReport, type QuotaReservation } from './lease.ts'

const cost = (bytes: number, items = 1): Cost => ({ bytes, items })
const LIMITS = cost(3000, 8)

/** The account of a site as `table_room_exchange` keeps it. */
class Account {
  used = NOTHING
  epoch = 0
  readonly #rooms = new Map<QuotaLease, Cost>()
  readonly #mostWish: Cost

  constructor(mostWish: Cost) {
    this.#mostWish = mostWish
  }

  get taken(): Cost {
    return [...this.#rooms.values()].reduce(plus, this.used)
  }

  answer(holder: QuotaLease, told: QuotaReport): QuotaGrant {
    const loss = told.epoch === this.epoch ? told.loss : NOTHING
    this.used = growthIn(minus(plus(this.used, told.gain), loss))
    this.#rooms.set(holder, told.held)
    const others = minus(minus(this.taken, this.used), told.held)
    const left = minus(LIMITS, this.taken)
    const granted =
      (told.requested.bytes <= 0 || told.requested.bytes <= left.bytes) &&
      (told.requested.items <= 0 || told.requested.items <= left.items)
    const extra = growthIn(
      smaller(smaller(told.prefetch, this.#mostWish), minus(left, told.requested)),
    )
    const room = granted ? plus(told.requested, extra) : NOTHING
    this.#rooms.set(holder, plus(told.held, room))
    return { granted, amount: room, used: this.used, others, limits: LIMITS, epoch: this.epoch }
  }
}

/** One process, and an exchange of it that is on its way. */
class Holder {
  readonly room = new QuotaLease(() => 0)
  readonly #account: Account
  #told: QuotaReport | undefined
  #answer: QuotaGrant | undefined

  constructor(account: Account) {
    this.#account = account
  }

  /** One of: the report is sent, it is answered, the answer is received. */
  settleStep(): void {
    if (this.#told === undefined) this.#told = this.room.report()
    else if (this.#answer === undefined) this.#answer = this.#account.answer(this.room, this.#told)
    else {
      this.room.accept(this.#told, this.#answer)
      this.#told = this.#answer = undefined
    }
  }

  /** The connection is gone, before it was answered or after. */
  lose(): void {
    if (this.#told !== undefined) this.room.reportFailed(this.#told)
    this.#told = this.#answer = undefined
  }

  /** A write that asks once when it has to; undefined when it was refused. */
  begin(by: Cost): QuotaReservation | undefined {
    const first = this.room.reserve(true)
    try {
      first.charge(by)
      return first
    } catch (error) {
      if (!(error instanceof QuotaExhausted)) throw error
      first.rollBack(error)
      while (this.#told !== undefined) this.settleStep()
      const told = this.room.request(error.requested)
      const answer = this.#account.answer(this.room, told)
      this.room.accept(told, answer)
      if (!answer.granted) return undefined
      const second = this.room.reserve(true, error.requested)
      second.charge(by)
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
        const running: QuotaReservation[] = []
        let stored = NOTHING
        const perform = {
          write(holder: Holder, by: Cost) {
            // What is not there cannot be removed.
            if (!fits(NOTHING, plus(stored, by))) return
            const charge = holder.begin(by)
            if (charge === undefined) return
            running.push(charge)
            stored = plus(stored, by)
          },
          end: () => running.shift()?.commit(),
          fail: () => running.shift()?.rollBack(new Error('the connection is gone')),
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

  test('that was not renewed for half a minute is not used', () => {
    let now = 0
    const account = new Account(cost(700, 2))
    const room = new QuotaLease(() => now)
    const told = room.request(NOTHING)
    room.accept(told, account.answer(room, told))
    room.reserve(false).charge(cost(10))
    const charge = room.reserve(false)
    now = 30_001
    expect(() => charge.charge(cost(10))).toThrow(QuotaExhausted)
  })

  test('is asked for twice as much each time while it is used up, and handed back in two steps', () => {
    const room = new QuotaLease(() => 0)
    const heard = { granted: true, used: NOTHING, others: NOTHING, epoch: 0 }
    const plenty = { ...heard, limits: cost(1e12, 1e9) }
    const wishes = []
    for (let n = 0; n < 8; n++) {
      const told = room.request(NOTHING)
      room.accept(told, { ...plenty, amount: told.prefetch })
      wishes.push(told.prefetch.items)
      const charge = room.reserve(false)
      charge.charge(told.prefetch)
      charge.commit()
    }
    expect(wishes).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 50_000, 50_000])
    const told = room.request(NOTHING)
    room.accept(told, { ...plenty, amount: cost(9000, 90) })
    const kept = [room.report(), room.report(), room.report()].map(({ held: { items } }) => items)
    expect(kept).toEqual([0, 0, 0])
  })
})
