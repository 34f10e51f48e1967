import { Big } from 'big.js'

import { validationError } from '#runtime/tables/validation-error.ts'

import { decimalText, parseDecimal, rangeFaultOf } from './decimal.ts'

const NOT_A_NUMBER = 'The parameter cannot be converted to a numeric value'
const MESSAGES = {
  overflow:
    'Number overflow. Attempting to store a number with magnitude larger than supported range',
  underflow:
    'Number underflow. Attempting to store a number with magnitude smaller than supported range',
  precision: 'Attempting to store more than 38 significant digits in a Number',
}

/** The one text by which DynamoDB knows a number: `01.20e1` is `12`. */
export function canonicalNumber(text: string): string {
  const decimal = parseDecimal(text)
  if (typeof decimal !== 'string') return decimalText(decimal)
  if (decimal !== 'syntax') throw validationError(MESSAGES[decimal])
  throw validationError(text === '' ? NOT_A_NUMBER : `${NOT_A_NUMBER}: ${text}`)
}

/** Adds two canonical numbers exactly, or refuses; nothing is ever rounded. */
export const addNumbers = (one: string, other: string): string => kept(new Big(one).plus(other))

/** Subtracts exactly, or refuses. */
export const subtractNumbers = (one: string, other: string): string =>
  kept(new Big(one).minus(other))

function kept(result: Big): string {
  const fault = rangeFaultOf(result)
  // A sum with more than 38 digits is called an overflow too: DynamoDB does so.
  if (fault !== undefined) {
    throw validationError(fault === 'underflow' ? MESSAGES.underflow : MESSAGES.overflow)
  }
  return decimalText(result)
}
