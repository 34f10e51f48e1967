/** A number as DynamoDB keeps it: digits × 10^exponent, the digits without trailing zeros. */
export interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

/** Most significant digits that a number may have. */
const MAX_DIGITS = 38
/** Largest power of ten of a number's first digit. */
const MAX_MAGNITUDE = 125
/** Smallest power of ten of a number's first digit. */
const MIN_MAGNITUDE = -130

const NUMBER =
  /^(?<sign>[+-]?)(?=\.?\d)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<power>[+-]?\d+))?$/
/** The number of digits of the largest integer of 64 bits. */
const LONG_DIGITS = 19
const ZERO: Decimal = { digits: 0n, exponent: 0 }
/** Texts up to this length differ as doubles exactly when they differ as decimals. */
const EXACT_TEXT_LENGTH = 15

export type DecimalFault = 'syntax' | 'overflow' | 'underflow' | 'precision'

/** Reads a number, or says what is wrong with it. Nothing large is built for a faulty text. */
export function parseDecimal(text: string): Decimal | DecimalFault {
  const parts = partsOf(text)
  if (parts === undefined) return 'syntax'
  const { sign, whole, fraction, power } = parts
  const written = trimLeadingZeros(whole + fraction)
  const significant = trimTrailingZeros(written)
  if (significant === '') return rangeFault(1, Number(power)) ?? ZERO
  const exponent = Number(power) - fraction.length + (written.length - significant.length)
  const fault = rangeFault(significant.length, exponent)
  if (fault !== undefined) return fault
  const digits = BigInt(significant)
  return { digits: sign === '-' ? -digits : digits, exponent }
}

function partsOf(text: string) {
  const groups = NUMBER.exec(text)?.groups
  if (groups === undefined) return undefined
  const { sign, whole = '', fraction = '', power = '0' } = groups
  return isLong(power) ? { sign, whole, fraction, power } : undefined
}

/** Whether a power of ten fits 64 bits, in which DynamoDB reads it. */
function isLong(power: string): boolean {
  const digits = trimLeadingZeros(power.replace(/^[+-]/, ''))
  if (digits.length !== LONG_DIGITS) return digits.length < LONG_DIGITS
  const value = BigInt(`${power.startsWith('-') ? '-' : ''}${digits}`)
  return BigInt.asIntN(64, value) === value
}

/** Plain notation: no exponent, no superfluous zero. */
export function decimalText({ digits, exponent }: Decimal): string {
  if (digits === 0n) return '0'
  const sign = digits < 0n ? '-' : ''
  const text = absolute(digits).toString()
  if (exponent >= 0) return `${sign}${text}${'0'.repeat(exponent)}`
  const point = text.length + exponent
  if (point > 0) return `${sign}${text.slice(0, point)}.${text.slice(point)}`
  return `${sign}0.${'0'.repeat(-point)}${text}`
}

function compareDecimals(one: Decimal, other: Decimal): number {
  const [left, right] = aligned(one, other)
  if (left === right) return 0
  return left < right ? -1 : 1
}

/** The exact sum; whether it can be kept is for `rangeFaultOf` to say. */
export function addDecimals(one: Decimal, other: Decimal): Decimal {
  const [left, right, exponent] = aligned(one, other)
  return normalized(left + right, exponent)
}

export const negated = ({ digits, exponent }: Decimal): Decimal => ({ digits: -digits, exponent })

export function rangeFaultOf({ digits, exponent }: Decimal): DecimalFault | undefined {
  return digits === 0n ? undefined : rangeFault(absolute(digits).toString().length, exponent)
}

/** Orders two canonical number texts. */
export function compareNumberTexts(one: string, other: string): number {
  if (one === other) return 0
  if (one.length <= EXACT_TEXT_LENGTH && other.length <= EXACT_TEXT_LENGTH) {
    return Number(one) < Number(other) ? -1 : 1
  }
  return compareDecimals(decimalOf(one), decimalOf(other))
}

/** The decimal of a text that is known to be canonical. */
export function decimalOf(canonical: string): Decimal {
  const decimal = parseDecimal(canonical)
  if (typeof decimal === 'string') throw new TypeError(`Not a canonical number: ${decimal}`)
  return decimal
}

function rangeFault(length: number, exponent: number): DecimalFault | undefined {
  const magnitude = exponent + length - 1
  if (magnitude > MAX_MAGNITUDE) return 'overflow'
  if (magnitude < MIN_MAGNITUDE) return 'underflow'
  return length > MAX_DIGITS ? 'precision' : undefined
}

function aligned(one: Decimal, other: Decimal): [bigint, bigint, number] {
  const exponent = Math.min(one.exponent, other.exponent)
  return [scaled(one, exponent), scaled(other, exponent), exponent]
}

const scaled = ({ digits, exponent }: Decimal, to: number): bigint =>
  digits * 10n ** BigInt(exponent - to)

function normalized(digits: bigint, exponent: number): Decimal {
  if (digits === 0n) return ZERO
  const text = digits.toString()
  const significant = trimTrailingZeros(text)
  return { digits: BigInt(significant), exponent: exponent + text.length - significant.length }
}

const absolute = (digits: bigint): bigint => (digits < 0n ? -digits : digits)

function trimLeadingZeros(text: string): string {
  let start = 0
  while (text[start] === '0') start += 1
  return text.slice(start)
}

function trimTrailingZeros(text: string): string {
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, end)
}
