import { AppError } from '#base/app-error.ts'
import type { ErrorCode } from '#base/error-status.ts'

import { dynamoError, validationFault, WireError } from './wire-error.ts'

/** A failure of the services as DynamoDB would send it; anything else is passed on as it is. */
export function wireFault(fault: unknown): unknown {
  if (fault instanceof WireError || !(fault instanceof AppError)) return fault
  const { message, fields = {} } = fault
  return FAULTS[fault.code]?.(message, fields) ?? fault
}

type Fields = Readonly<Record<string, unknown>>

const FAULTS: Readonly<Partial<Record<ErrorCode, (message: string, fields: Fields) => WireError>>> =
  {
    ValidationError: validationFault,
    ConditionalCheckFailed: (message, fields) =>
      dynamoError('ConditionalCheckFailedException', message, capitalized(fields)),
    TransactionCanceled: (message, fields) =>
      dynamoError('TransactionCanceledException', message, {
        CancellationReasons: reasonsOf(fields['reasons']),
      }),
    IdempotencyKeyReused: (message) => dynamoError('IdempotentParameterMismatchException', message),
    ResourceNotFound: (message) => dynamoError('ResourceNotFoundException', message),
  }

function reasonsOf(reasons: unknown): readonly unknown[] {
  if (!Array.isArray(reasons)) return []
  return reasons.map((reason: unknown) => capitalized(Object(reason)))
}

/** `item` is `Item` on the wire. */
const capitalized = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.slice(0, 1).toUpperCase() + name.slice(1),
      value,
    ]),
  )
