import type { ActionBody } from '#runtime/tables/engine.ts'
import { invalidRequest } from '#runtime/tables/fault.ts'

import { listOf } from './requests.ts'

const MAX_ACTIONS = 100
const MAX_BYTES = 4 * 1024 * 1024

export const ONE_OPERATION = 'Transaction request cannot include multiple operations on one item'

/** The actions of a transaction: 1 to 100. */
export function transactItems(body: ActionBody): readonly unknown[] {
  const items = listOf(body['TransactItems'])
  if (items.length > 0 && items.length <= MAX_ACTIONS) return items
  const bound =
    items.length === 0 ? 'greater than or equal to 1' : `less than or equal to ${MAX_ACTIONS}`
  throw invalidRequest(
    `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length ${bound}`,
  )
}

/** Of what a transaction reads, or of what it brings to be written. */
export function checkTransactionBytes(bytes: number): void {
  if (bytes <= MAX_BYTES) return
  throw invalidRequest('The aggregate item size cannot exceed 4 MB in a transaction')
}
