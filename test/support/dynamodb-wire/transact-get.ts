import { checkDistinct } from '#runtime/tables/batches/plan.ts'
import { cancelAtFirst } from '#runtime/tables/batches/transact-write.ts'
import type { TableEngine } from '#runtime/tables/engine.ts'
import { checkNestedPaths } from '#runtime/tables/expressions/key-rules.ts'
import { type Projection, project } from '#runtime/tables/expressions/project.ts'
import { checkEmptyKeys, checkItemKey } from '#runtime/tables/items/key-schema.ts'
import { plainItem } from '#runtime/tables/items/plain-json.ts'
import { itemSize } from '#runtime/tables/items/size.ts'
import { BatchItems } from '#runtime/tables/store/batch-items.ts'
import type { ItemRef } from '#runtime/tables/store/item-ref.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import { fieldsOf, type RequestReading, tableNamed, transactedTexts } from './batch-fields.ts'
import { expressionFields } from './expression-texts.ts'

const MAX_BYTES = 4 * 1024 * 1024

interface WantedItem {
  readonly ref: ItemRef
  readonly projection: Projection | undefined
}

/** TransactGetItems, which the product itself does not have. */
export class TransactGets {
  readonly #deps: ConstructorParameters<typeof TableEngine>[0]
  readonly #items: BatchItems

  constructor(deps: ConstructorParameters<typeof TableEngine>[0]) {
    this.#deps = deps
    this.#items = new BatchItems(deps)
  }

  /**
   * All items as they were at one moment, in the order of the request; `{}` where there is none, or nothing that was asked
   * for.
   */
  async read(inputs: readonly unknown[], reading: RequestReading): Promise<readonly object[]> {
    const read = inputs.map((input) => readGet(fieldsOf(input)['Get'], reading))
    const wanted = read.map((named) => named())
    for (const { ref, projection } of wanted) {
      checkEmptyKeys(ref.key, ref.table.schema)
      checkNestedPaths(projection?.paths ?? [], ref.table.schema)
    }
    cancelAtFirst(wanted, ({ ref }) => checkItemKey(ref.key, ref.table.schema))
    const refs = wanted.map(({ ref }) => ref)
    checkDistinct(refs, 'Transaction request cannot include multiple operations on one item')
    const { database, layouts } = this.#deps
    for (const { table } of refs) await layouts.of(table)
    const siteId = refs[0]?.table.siteId ?? ''
    const found = await database.withSite(siteId, (tx) => this.#items.read(tx, refs))
    if (found.reduce((sum, item) => sum + (item ? itemSize(item) : 0), 0) > MAX_BYTES) {
      throw validationError('The aggregate item size cannot exceed 4 MB in a transaction')
    }
    return wanted.map(({ projection }, at) => {
      const item = found[at]
      if (item === undefined) return {}
      const shown = projection === undefined ? item : project(projection, item)
      const isNothing = projection !== undefined && Object.keys(shown).length === 0
      return isNothing ? {} : { Item: reading.codec.fromPlain(plainItem(shown)) }
    })
  }
}

/** An item wanted of a table that has not been looked for yet. */
function readGet(input: unknown, reading: RequestReading): () => WantedItem {
  if (input === undefined) throw validationError('TransactItems must contain Get requests only')
  const request = fieldsOf(input)
  const key = reading.codec.readItem(request['Key'])
  const fields = expressionFields(['ProjectionExpression'])
  const texts = transactedTexts(request, ['ProjectionExpression'], reading)
  const { projection } = reading.expressions.bind(texts, fields)
  return () => ({
    ref: { table: tableNamed(reading.tables, request['TableName']), key },
    projection,
  })
}
