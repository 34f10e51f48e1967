import { Big } from 'big.js'

/** Most significant digits that a number of DynamoDB may have. */
const MAX_DIGITS = 38
/** Largest and smallest power of ten of a number's first digit. */
const MAX_MAGNITUDE = 125
const MIN_MAGNITUDE = -130

const NUMBER = /^[+-]?(?=\.?\d)\d*(?:\.\d*)?(?:[eE](?<power>[+-]?\d+))?$/
const SHORT_POWER = /^[+-]?0*\d{1,19}$/
/** Texts up to this length differ as doubles exactly when they differ as decimals. */
const EXACT_TEXT_LENGTH = 15

type DecimalFault = 'syntax' | 'overflow' | 'underflow' | 'precision'

/** Reads a number, or says what is wrong with it. */
export function parseDecimal(text: string): Big | DecimalFault {
  const found = NUMBER.exec(text)
  const power = found?.groups?.['power'] ?? '0'
  if (found === null || !isLong(power)) return 'syntax'
  const decimal = new Big(text.replace(/^\+/, ''))
  const isZero = decimal.c[0] === 0
  return faultOf(isZero ? Number(power) : decimal.e, decimal.c.length) ?? decimal
}

/** What is wrong with the result of a computation, if anything. */
export const rangeFaultOf = ({ c, e }: Big): DecimalFault | undefined => faultOf(e, c.length)

/** Plain notation: no exponent, no superfluous zero. */
export const decimalText = (decimal: Big): string => (decimal.c[0] === 0 ? '0' : decimal.toFixed())

/** Orders two canonical number texts. */
export function compareNumberTexts(one: string, other: string): number {
  if (one === other) return 0
  if (one.length <= EXACT_TEXT_LENGTH && other.length <= EXACT_TEXT_LENGTH) {
    return Number(one) < Number(other) ? -1 : 1
  }
  return new Big(one).cmp(other)
}

/** Whether a power of ten fits 64 bits, in which DynamoDB reads it. */
const isLong = (power: string): boolean =>
  SHORT_POWER.test(power) && BigInt.asIntN(64, BigInt(power)) === BigInt(power)

function faultOf(magnitude: number, digits: number): DecimalFault | undefined {
  if (magnitude > MAX_MAGNITUDE) return 'overflow'
  if (magnitude < MIN_MAGNITUDE) return 'underflow'
  return digits > MAX_DIGITS ? 'precision' : undefined
}
