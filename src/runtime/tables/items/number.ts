import { validationError } from '#runtime/tables/validation-error.ts'

import {
  addDecimals,
  type DecimalFault,
  decimalOf,
  decimalText,
  negated,
  parseDecimal,
  rangeFaultOf,
} from './decimal.ts'

const NOT_A_NUMBER = 'The parameter cannot be converted to a numeric value'
const OVERFLOW =
  'Number overflow. Attempting to store a number with magnitude larger than supported range'
const UNDERFLOW =
  'Number underflow. Attempting to store a number with magnitude smaller than supported range'

/** The one text by which DynamoDB knows a number: `01.20e1` is `12`. */
export function canonicalNumber(text: string): string {
  const decimal = parseDecimal(text)
  if (typeof decimal === 'string') throw validationError(messageOf(decimal, text))
  return decimalText(decimal)
}

/** Adds two canonical numbers exactly, or refuses; nothing is ever rounded. */
export const addNumbers = (one: string, other: string): string =>
  kept(addDecimals(decimalOf(one), decimalOf(other)))

/** Subtracts exactly, or refuses. */
export const subtractNumbers = (one: string, other: string): string =>
  kept(addDecimals(decimalOf(one), negated(decimalOf(other))))

function kept(result: ReturnType<typeof addDecimals>): string {
  const fault = rangeFaultOf(result)
  // A sum with more than 38 digits is called an overflow too: DynamoDB does so.
  if (fault !== undefined) throw validationError(fault === 'underflow' ? UNDERFLOW : OVERFLOW)
  return decimalText(result)
}

function messageOf(fault: DecimalFault, text: string): string {
  switch (fault) {
    case 'overflow':
      return OVERFLOW
    case 'underflow':
      return UNDERFLOW
    case 'precision':
      return 'Attempting to store more than 38 significant digits in a Number'
    case 'syntax':
      return text === '' ? NOT_A_NUMBER : `${NOT_A_NUMBER}: ${text}`
    default:
      return fault satisfies never
  }
}
