import { setImmediate as nextTurn } from 'node:timers/promises'

import { SignInLimiter } from '#identity/passwords/sign-in-limiter.ts'

import { G, N } from './group.ts'

/** Digits of an exponent between two turns of the event loop: about a millisecond's work. */
const DIGITS_A_TURN = 16
/** Four bits to a digit: each saves three multiplications of four. */
const DIGIT_VALUES = 16
/** The length of a hash in hexadecimal digits, and of our own secret exponents. */
const FIXED_DIGITS = 64
const QUEUE = { maxQueued: 64, maxQueuedInAll: 256 }

/** Powers modulo `N`, for one network. */
export interface NetworkPowers {
  raise(base: bigint, exponent: bigint): Promise<bigint>
  /** `g ^ exponent`, for exponents below 2 ^ 256: four times as fast. */
  raiseGenerator(exponent: bigint): Promise<bigint>
}

/**
 * Powers modulo `N`, one at a time and a piece at a time: a power costs some milliseconds, and no runtime we serve has a
 * way to raise numbers of this size beside the event loop. 503 when too many wait.
 */
export class ModularPowers {
  readonly #limiter = new SignInLimiter({ permits: 1, ...QUEUE })
  #ofGenerator: Promise<readonly (readonly bigint[])[]> | undefined

  /** For a client at `address`: networks take turns. */
  from(address: string): NetworkPowers {
    return {
      raise: (base, exponent) => this.#limiter.run(address, () => raised(base, exponent)),
      raiseGenerator: (exponent) => this.#raiseGenerator(address, exponent),
    }
  }

  async #raiseGenerator(address: string, exponent: bigint): Promise<bigint> {
    this.#ofGenerator ??= generatorTable()
    const table = await this.#ofGenerator
    return this.#limiter.run(address, async () => {
      const power = product(table, exponent)
      // Or a crowd of these, half a millisecond each, would follow one another without a turn between.
      await nextTurn()
      return power
    })
  }
}

async function raised(base: bigint, exponent: bigint): Promise<bigint> {
  const multiples = multiplesOf(base % N)
  let power = 1n
  let sinceTurn = 0
  for (const digit of exponent.toString(16)) {
    for (let bit = 0; bit < 4; bit += 1) power = (power * power) % N
    power = (power * (multiples[Number.parseInt(digit, DIGIT_VALUES)] ?? 1n)) % N
    sinceTurn += 1
    if (sinceTurn === DIGITS_A_TURN) {
      sinceTurn = 0
      await nextTurn()
    }
  }
  return power
}

/** `base ^ 0` to `base ^ 15`. */
function multiplesOf(base: bigint): bigint[] {
  const multiples = [1n]
  for (let at = 1; at < DIGIT_VALUES; at += 1) {
    multiples.push(((multiples[at - 1] ?? 1n) * base) % N)
  }
  return multiples
}

/** Lists, for each digit's place, the powers that its values stand for: 370 KiB, made at the first use. */
async function generatorTable(): Promise<readonly (readonly bigint[])[]> {
  const table: bigint[][] = []
  let base = G
  for (let place = 0; place < FIXED_DIGITS; place += 1) {
    const multiples = multiplesOf(base)
    table.push(multiples)
    base = ((multiples[DIGIT_VALUES - 1] ?? 1n) * base) % N
    if (place % 8 === 7) await nextTurn()
  }
  return table
}

function product(table: readonly (readonly bigint[])[], exponent: bigint): bigint {
  const digits = exponent.toString(16).padStart(FIXED_DIGITS, '0')
  if (digits.length > FIXED_DIGITS) throw new RangeError('The exponent has more than 256 bits')
  let power = 1n
  for (const [place, multiples] of table.entries()) {
    const digit = digits.charAt(FIXED_DIGITS - 1 - place)
    power = (power * (multiples[Number.parseInt(digit, DIGIT_VALUES)] ?? 1n)) % N
  }
  return power
}
