import { AppError } from '#base/app-error.ts'
import { conditionFailure, conditionHolds } from '#runtime/tables/actions/item-change.ts'
import { updatedItem } from '#runtime/tables/actions/update-item.ts'
import type { TransactRequest } from '#runtime/tables/api/action-fields.ts'
import { NO_UPDATE } from '#runtime/tables/expressions/bind-update.ts'
import {
  type BoundExpressions,
  type Expressions,
  hasAny,
} from '#runtime/tables/expressions/expressions.ts'
import { checkUpdateKeys } from '#runtime/tables/expressions/key-rules.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'
import {
  checkEmptyKeys,
  checkItemKey,
  checkItemKeys,
  keyOf,
} from '#runtime/tables/items/key-schema.ts'
import { readPlainItem } from '#runtime/tables/items/plain-value.ts'
import { checkItemSize, itemSize } from '#runtime/tables/items/size.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { type BatchChange, type BatchPlan, checkDistinct, meterChanges } from './plan.ts'
import { claimTransaction, namedTransaction } from './transaction-token-queries.ts'

const MAX_BYTES = 4 * 1024 * 1024
const EXPRESSIONS = ['updateExpression', 'conditionExpression'] as const

const NONE: CancellationReason = { code: 'None' }

/** One action of a transaction, whose texts were read. */
interface TransactAction {
  readonly request: TransactRequest
  /** The item that a put brings, else the key. */
  readonly given: Item
  readonly bound: BoundExpressions
}

/** Why one action of a transaction prevented it, in DynamoDB's words; `None` when it did not. */
interface CancellationReason {
  readonly code: 'None' | 'ConditionalCheckFailed' | 'ValidationError'
  readonly message?: string
  /** The stored item, where the action asked for it. */
  readonly item?: unknown
}

/**
 * All actions of a transaction or none, in isolation. Keys that do not fit their tables cancel it; any other fault of the request
 * is thrown as it is.
 */
export function readTransactWrite(
  requests: readonly TransactRequest[],
  clientRequestToken: string | undefined,
  expressions: Expressions,
): BatchPlan<void> {
  const actions = requests.map((request) => readAction(request, expressions))
  for (const { given, request } of actions) checkEmptyKeys(given, request.table.schema)
  checkBytes(actions)
  cancelAtFirst(actions, checkKeys)
  const refs = actions.map(({ given, request: { table } }) => ({
    table,
    key: keyOf(given, table.schema),
  }))
  checkDistinct(refs, 'Transaction request cannot include multiple operations on one item')
  const named = namedTransaction(clientRequestToken, requests)
  return {
    refs,
    async perform(tx, { items, now, meter }) {
      if (named !== undefined && !(await claimTransaction(tx, named, now))) return
      const stored = await items.lock(tx, refs)
      const decided = cancelForAll(actions, (action, at) => decide(action, stored[at]))
      const changes = decided.flatMap((outcome, at): BatchChange[] => {
        const ref = refs[at]
        return outcome === 'kept' || ref === undefined
          ? []
          : [{ ref, item: outcome.item, before: stored[at] }]
      })
      meterChanges(meter, changes)
      await items.write(tx, changes)
    },
  }
}

function readAction(request: TransactRequest, expressions: Expressions): TransactAction {
  const { kind, fields } = request
  const given = readPlainItem(kind === 'put' ? fields.item : fields.key)
  if (kind === 'put') checkItemSize(given)
  // Names and values are of no matter without an expression.
  const bound = hasAny(fields, EXPRESSIONS) ? expressions.bind(fields, EXPRESSIONS) : {}
  return { request, given, bound }
}

/** Bounds what a transaction brings: items, keys, and values of updates. */
function checkBytes(actions: readonly TransactAction[]): void {
  const bytes = actions.map(({ given, request: { kind, fields } }) => {
    const values = kind === 'update' ? fields.expressionAttributeValues : undefined
    return itemSize(given) + (values === undefined ? 0 : itemSize(readPlainItem(values)))
  })
  if (bytes.reduce((sum, each) => sum + each, 0) <= MAX_BYTES) return
  throw validationError('The aggregate item size cannot exceed 4 MB in a transaction')
}

function checkKeys({ given, bound, request: { kind, table } }: TransactAction): void {
  if (kind === 'put') {
    checkItemKeys(given, table.schema)
    return
  }
  checkItemKey(given, table.schema)
  if (kind === 'update') checkUpdateKeys(bound.update ?? NO_UPDATE, table.schema)
}

/** What an action does to the item: nothing, or another item, or none, in its place. */
type ItemOutcome = 'kept' | { readonly item: Item | undefined }

function decide(
  { given, bound, request: { kind, table, fields } }: TransactAction,
  before: Item | undefined,
): ItemOutcome {
  if (!conditionHolds(bound.condition, before)) throw conditionFailure(fields, before)
  switch (kind) {
    case 'conditionCheck':
      return 'kept'
    case 'delete':
      return { item: undefined }
    case 'put':
      return { item: given }
    case 'update':
      return { item: updatedItem(bound.update ?? NO_UPDATE, table, { key: given, before }) }
    default:
      return kind satisfies never
  }
}

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
function cancelForAll<Each, Result>(
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
