import { DOMException } from './dom-exception.ts'
import { defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { isFinite } from './primordials.ts'
import { dictionary, isWebIdlObject } from './webidl.ts'

interface Amounts {
  readonly quota: number | null
  readonly requested: number | null
}

/** https://webidl.spec.whatwg.org/#quotaexceedederror */
export class QuotaExceededError extends DOMException {
  readonly #amounts: Amounts

  constructor(message: unknown = '', init?: unknown) {
    super(message, 'QuotaExceededError')
    const { quota, requested } = dictionary(init, WHERE)
    this.#amounts = { quota: amount('quota', quota), requested: amount('requested', requested) }
    const { quota: most, requested: wanted } = this.#amounts
    if (most !== null && wanted !== null && wanted < most)
      throw new RangeError(`${WHERE}: requested must not be less than quota`)
  }

  static readonly amountsOf = (value: unknown): Amounts | undefined => {
    return isWebIdlObject(value) && #amounts in value ? value.#amounts : undefined
  }
}

export const { amountsOf } = takeInternals(QuotaExceededError)
defineAttributes(QuotaExceededError, amountsOf, {
  quota: ({ quota }) => quota,
  requested: ({ requested }) => requested,
})
defineInterface('QuotaExceededError', QuotaExceededError)

const WHERE = "Failed to construct 'QuotaExceededError'"

function amount(name: string, value: unknown): number | null {
  if (value === undefined) return null
  const number = +(value as number)
  if (!isFinite(number)) throw new TypeError(`${WHERE}: ${name} must be a finite number`)
  if (number < 0) throw new RangeError(`${WHERE}: ${name} must not be negative`)
  return number
}
