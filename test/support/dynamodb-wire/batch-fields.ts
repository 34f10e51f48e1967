import { AppError } from '#base/app-error.ts'
import type { Expressions } from '#runtime/tables/expressions/expressions.ts'
import type { Table } from '#runtime/tables/table.ts'
import { validationError } from '#runtime/tables/validation-error.ts'

import type { ItemCodec } from './codec.ts'
import {
  type ExpressionParameter,
  expressionFields,
  expressionTexts,
  plainTexts,
} from './expression-texts.ts'

export type Fields = Readonly<Record<string, unknown>>

/** The tables of one site by the names that a request uses. */
export type TablesByName = (name: string) => Table | undefined

/** What a request is read with. */
export interface RequestReading {
  readonly tables: TablesByName
  readonly codec: ItemCodec
  readonly expressions: Expressions
}

/** Names and values are of no matter to an action of a transaction that has no expression. */
export function transactedTexts(
  body: Fields,
  parameters: readonly ExpressionParameter[],
  reading: RequestReading,
) {
  const any = parameters.some((name) => body[name] !== undefined)
  return any ? boundTexts(body, parameters, reading) : {}
}

/** The expressions of a part of a request, which were bound once so that the faults of their values are said on the wire. */
export function boundTexts(
  body: Fields,
  parameters: readonly ExpressionParameter[],
  { codec, expressions }: RequestReading,
) {
  const texts = expressionTexts(body, parameters)
  expressions.bind(texts, expressionFields(parameters), codec.readValue)
  return plainTexts(texts, codec)
}

export function tableNamed(tables: TablesByName, name: unknown): Table {
  const table = typeof name === 'string' ? tables(name) : undefined
  if (table === undefined) throw new AppError('ResourceNotFound', 'Requested resource not found')
  return table
}

export function fieldsOf(input: unknown): Fields {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return { ...input }
  throw validationError('Unexpected value type in payload')
}

export function listOf(input: unknown): readonly unknown[] {
  if (Array.isArray(input)) return input
  throw validationError('Unexpected field type')
}
