import type { ActionBody } from '#runtime/tables/engine.ts'
import type { Item } from '#runtime/tables/items/attribute-value.ts'

import { cancelForFirst, NONE, reasonOf, transactionCanceled } from './cancellation.ts'
import { chargeChanges, type KnownChange } from './charge-changes.ts'
import { lockPlaces } from './locks.ts'
import type { Plan } from './plan.ts'
import { checkDistinct, type RequestReading } from './requests.ts'
import { type Outcome, readTransactAction, type TransactAction } from './transact-action.ts'
import { checkTransactionBytes, ONE_OPERATION, transactItems } from './transaction-bounds.ts'
import { claimTransaction, namedTransaction } from './transaction-tokens.ts'

/**
 * TransactWriteItems: all of its actions or none, as if nothing else happened meanwhile. Keys that do not fit their tables
 * cancel it; any other fault of the request is thrown as it is, that of a text before that of a table that is missing.
 */
export function transactWrite(body: ActionBody, reading: RequestReading): Plan {
  const inputs = transactItems(body)
  const read = inputs.map((input) => readTransactAction(input, reading))
  const actions = read.map((placed) => placed())
  checkTransactionBytes(actions.reduce((sum, { bytes }) => sum + bytes, 0))
  cancelForFirst(actions.map(({ fault }) => fault))
  const places = actions.map(({ place }) => place)
  checkDistinct(places, ONE_OPERATION)
  const named = namedTransaction(body['ClientRequestToken'], inputs)
  return {
    places,
    async perform(tx, { items, now, charge }) {
      if (named !== undefined && !(await claimTransaction(tx, named, now))) return {}
      await lockPlaces(tx, places)
      const stored = await items.lock(tx, places)
      const outcomes = decideAll(actions, stored)
      const changes = changesOf(actions, outcomes, stored)
      chargeChanges(charge, changes)
      await items.write(tx, changes)
      return {}
    },
  }
}

function decideAll(
  actions: readonly TransactAction[],
  stored: readonly (Item | undefined)[],
): readonly Outcome[] {
  const outcomes: Outcome[] = []
  const reasons = actions.map((action, index) => {
    try {
      outcomes.push(action.decide(stored[index]))
      return NONE
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) throw error
      return reason
    }
  })
  if (outcomes.length < actions.length) throw transactionCanceled(reasons)
  return outcomes
}

const changesOf = (
  actions: readonly TransactAction[],
  outcomes: readonly Outcome[],
  stored: readonly (Item | undefined)[],
): readonly KnownChange[] =>
  actions.flatMap(({ place }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined || outcome === 'kept') return []
    return [{ place, item: outcome.item, before: stored[index] }]
  })
