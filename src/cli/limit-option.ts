import { type Arguments, textOption } from './command.ts'
import { UsageError } from './errors.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

/** Of a list that may be long. */
export const LIMIT_OPTION = textOption(
  '--limit <number>',
  `at most so many; ${DEFAULT_LIMIT} by default`,
)

export function limitOf(args: Arguments): number {
  const text = args.text('limit')
  const limit = text === undefined ? DEFAULT_LIMIT : Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit is a whole number from 1 to ${MAX_LIMIT}, not "${text}"`)
}
