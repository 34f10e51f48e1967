import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { CommandError } from './errors.ts'

/** Gives an answer of the service its type. */
export function expectShape<Schema extends TSchema>(
  schema: Schema,
  answer: unknown,
): Static<Schema> {
  if (Value.Check(schema, answer)) return answer
  throw new CommandError('The service answered in a way this tool does not know: update both')
}
