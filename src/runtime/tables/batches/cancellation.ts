import { AppError } from '#base/app-error.ts'

/** Why one action of a transaction stood in its way, in DynamoDB's words; `None` when it did not. */
interface CancellationReason {
  readonly code: 'None' | 'ConditionalCheckFailed' | 'ValidationError'
  readonly message?: string
  /** The stored item, where the action asked for it. */
  readonly item?: unknown
}

const NONE: CancellationReason = { code: 'None' }

/** Does something for each action; the first one that fails cancels the transaction, and nothing is said of those after it. */
export function cancelAtFirst<Each>(actions: readonly Each[], check: (action: Each) => void): void {
  for (const [at, action] of actions.entries()) {
    const reason = reasonFrom(() => check(action))
    if (reason !== NONE) {
      throw transactionCanceled(actions.map((_action, index) => (index === at ? reason : NONE)))
    }
  }
}

/** Does something for each action; all that fail cancel the transaction together. */
export function cancelForAll<Each, Result>(
  actions: readonly Each[],
  decide: (action: Each, at: number) => Result,
): readonly Result[] {
  const results: Result[] = []
  const reasons = actions.map((action, at) =>
    reasonFrom(() => void results.push(decide(action, at))),
  )
  if (results.length < actions.length) throw transactionCanceled(reasons)
  return results
}

/** A transaction that did nothing; `fields.reasons` has one reason for each action, in their order. */
function transactionCanceled(reasons: readonly CancellationReason[]): AppError {
  const codes = reasons.map(({ code }) => code).join(', ')
  return new AppError(
    'TransactionCanceled',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { fields: { reasons } },
  )
}

/** A failure of another kind is thrown on. */
function reasonFrom(work: () => void): CancellationReason {
  try {
    work()
    return NONE
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { code, message, fields } = error
    if (code !== 'ConditionalCheckFailed' && code !== 'ValidationError') throw error
    const item = fields?.['item']
    return { code, message, ...(item !== undefined && { item }) }
  }
}
