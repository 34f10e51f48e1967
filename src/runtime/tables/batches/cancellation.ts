import { AppError } from '#base/app-error.ts'

/** Why one action of a transaction stood in its way, in DynamoDB's words; `None` when it did not. */
export interface CancellationReason {
  readonly code: 'None' | 'ConditionalCheckFailed' | 'ValidationError'
  readonly message?: string
  /** The stored item in the codec's form, where the action asked for it. */
  readonly item?: unknown
}

export const NONE: CancellationReason = { code: 'None' }

/** A transaction that did nothing; `fields.reasons` has one reason for each action, in their order. */
export function transactionCanceled(reasons: readonly CancellationReason[]): AppError {
  const codes = reasons.map(({ code }) => code).join(', ')
  return new AppError(
    'TransactionCanceled',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { fields: { reasons } },
  )
}

/** The first action with a fault cancels the transaction; nothing is said of those after it. */
export function cancelForFirst(faults: readonly (AppError | undefined)[]): void {
  const at = faults.findIndex((fault) => fault !== undefined)
  if (at < 0) return
  const reason = reasonOf(faults[at]) ?? NONE
  throw transactionCanceled(faults.map((_fault, index) => (index === at ? reason : NONE)))
}

/** What a check throws of what can be wrong with a request. */
export function faultOf(check: () => void): AppError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** The reason that the failure of one action is; undefined for a failure of another kind. */
export function reasonOf(error: unknown): CancellationReason | undefined {
  if (!(error instanceof AppError)) return undefined
  const { code, message, fields } = error
  if (code !== 'ConditionalCheckFailed' && code !== 'ValidationError') return undefined
  const item = fields?.['item']
  return { code, message, ...(item !== undefined && { item }) }
}
