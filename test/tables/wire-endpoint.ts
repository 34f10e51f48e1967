import { vi } from 'vitest'

import { startDynamoDbWire } from '#test/dynamodb-wire.ts'
import { openDatabase } from '#test/postgres.ts'

import { endpointAt } from './endpoint.ts'

type Fields = Readonly<Record<string, unknown>>

/** An endpoint of its own for one file of tests. */
export interface WireEndpoint extends AsyncDisposable {
  readonly url: string
  /** What the endpoint could not answer. */
  readonly faults: readonly unknown[]
  /** The answer; fails when it is an error. */
  do(action: string, body: object): Promise<Fields>
  /** Type and message of the error; fails when there is none. */
  fail(action: string, body: object): Promise<{ readonly type: string; readonly message: string }>
  /** Makes a table and waits until it is one; also until a change of it is done. */
  create(body: Fields): Promise<void>
  settled(TableName: unknown): Promise<Fields>
}

export async function openWire(): Promise<WireEndpoint> {
  await using opening = new AsyncDisposableStack()
  const { database, ...rest } = await openDatabase()
  opening.use(rest)
  const faults: unknown[] = []
  const wire = opening.use(
    await startDynamoDbWire({ database, transitionMs: 10, onFault: (fault) => faults.push(fault) }),
  )
  const caller = opening.use(endpointAt(Number(new URL(wire.endpoint).port)))
  const running = opening.move()
  const endpoint: WireEndpoint = {
    url: wire.endpoint,
    faults,
    async do(action, body) {
      const answer = await caller.call(action, body)
      if (answer.ok) return answer.body
      throw new Error(`${action}: ${answer.type}: ${answer.message}`)
    },
    async fail(action, body) {
      const answer = await caller.call(action, body)
      if (!answer.ok) return { type: answer.type, message: answer.message }
      throw new Error(`${action} was done: ${JSON.stringify(answer.body)}`)
    },
    async create(body) {
      await endpoint.do('CreateTable', { BillingMode: 'PAY_PER_REQUEST', ...body })
      await endpoint.settled(body['TableName'])
    },
    settled: (TableName) =>
      vi.waitFor(async () => {
        const { Table: table } = await endpoint.do('DescribeTable', { TableName })
        const description: Fields = Object(table)
        if (description['TableStatus'] !== 'ACTIVE') throw new Error('Still changing')
        return description
      }, 20_000),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
  return endpoint
}

/** A key schema of these attributes. */
export const keys = (...names: readonly string[]): readonly Fields[] =>
  names.map((AttributeName, at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' }))

/** Definitions of these attributes, as strings. */
export const strings = (...names: readonly string[]): readonly Fields[] =>
  names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }))

export const index = (
  IndexName: string,
  names: readonly string[],
  Projection: object = { ProjectionType: 'ALL' },
): Fields => ({ IndexName, KeySchema: keys(...names), Projection })
