import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { isJsonObject } from '#base/json-object.ts'
import { TABLE_ANSWERS } from '#runtime/tables/api/answers.ts'

import { columns, printable } from './columns.ts'
import { type Arguments, type CliCommand, type Invocation, textOption } from './command.ts'
import { CommandError, ServiceRefusal, UsageError, unreadableFile } from './errors.ts'
import { namedInput } from './named-file.ts'
import { contentPath, resourcesOf } from './resource.ts'

/** Items of one write, and what one may come to as text: a body is at most 6 MiB. */
const MAX_BATCH = { items: 25, characters: 2_000_000 }
const PROGRESS_EVERY = 1000

const Key = Type.Object({ name: Type.String(), type: Type.String() })
const TableConfig = Type.Object({
  partitionKey: Key,
  sortKey: Type.Optional(Key),
  globalSecondaryIndexes: Type.Optional(Type.Array(Type.Object({ indexName: Type.String() }))),
})

const FILE_OPTION = textOption('--file <file>', 'the file to read, - for stdin')

export const tableList: CliCommand = {
  name: 'table list',
  summary: 'List the tables of a site with their keys and indexes',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const tables = await resourcesOf(service, args.word, 'ddbTable')
    const rows = tables.map(({ name, resourceId, config }) => {
      if (!Value.Check(TableConfig, config)) return [name, '', '', resourceId]
      const keys = [config.partitionKey, config.sortKey].flatMap((key) => key ?? [])
      const indexes = (config.globalSecondaryIndexes ?? []).map(({ indexName }) => indexName)
      const keyText = keys.map((key) => `${key.name} ${key.type}`).join(', ')
      return [name, keyText, indexes.join(', '), resourceId].map(printable)
    })
    return {
      json: { items: tables },
      text: rows.length === 0 ? 'No table yet' : columns(rows),
    }
  },
}

export const tableGet: CliCommand = {
  name: 'table get',
  summary: 'Print an item by its key, such as \'{"id":"a"}\'',
  words: ['DOMAIN', 'TABLE', 'KEY'],
  options: [],
  async run(call) {
    const { args, service } = call
    const json = `{"key":${objectText(args.third ?? '', 'KEY')}}`
    const { item } = await service.portalAs(
      TABLE_ANSWERS.get,
      'POST',
      `${await tablePath(call)}/get`,
      { json },
    )
    if (item === null) throw new CommandError(`${nameOf(args)} has no item with that key`)
    return { json: item, text: JSON.stringify(item, null, 2) }
  },
}

export const tablePut: CliCommand = {
  name: 'table put',
  summary: 'Put an item, in place of the one with its key: from an argument, or from a file',
  words: ['DOMAIN', 'TABLE', '[ITEM]'],
  options: [FILE_OPTION],
  async run(call) {
    const { args, service } = call
    const file = args.text('file')
    if ((args.third === undefined) === (file === undefined)) {
      throw new UsageError('give the item as a word, or a file with --file')
    }
    const text = args.third ?? (await namedInput(file ?? '-'))
    const json = `{"item":${objectText(text, 'the item')}}`
    await service.portalAs(TABLE_ANSWERS.put, 'POST', `${await tablePath(call)}/put`, { json })
    return { json: { ok: true }, text: `Written to ${nameOf(args)}.` }
  },
}

export const tableImport: CliCommand = {
  name: 'table import',
  summary: 'Import items from JSON Lines: one item a line, in place of those with their keys',
  words: ['DOMAIN', 'TABLE'],
  options: [FILE_OPTION],
  async run(call) {
    const { args, progress } = call
    const file = args.text('file') ?? '-'
    const path = `${await tablePath(call)}/batch-write`
    let count = 0
    for await (const batch of batchesOf(file)) {
      await writeBatch(call, path, { batch, count })
      const before = count
      count += batch.length
      if (Math.floor(before / PROGRESS_EVERY) < Math.floor(count / PROGRESS_EVERY)) {
        progress(`${count} items…`)
      }
    }
    return { json: { items: count }, text: `Wrote ${counted(count)} to ${nameOf(args)}.` }
  },
}

export const tableExport: CliCommand = {
  name: 'table export',
  summary: 'Export all items of a table as JSON Lines: one item a line',
  words: ['DOMAIN', 'TABLE'],
  options: [],
  async run(call) {
    return { bytes: exported(call, await tablePath(call)) }
  },
}

async function* exported({ service }: Invocation, path: string): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (let token: string | null = ''; token !== null;) {
    const body: object = token === '' ? {} : { nextToken: token }
    const page = await service.portalAs(TABLE_ANSWERS.scan, 'POST', `${path}/scan`, { body })
    yield encoder.encode(page.items.map((item) => `${JSON.stringify(item)}\n`).join(''))
    token = page.nextToken
  }
}

const tablePath = ({ args, service }: Invocation): Promise<string> =>
  contentPath(service, args.word, { type: 'ddbTable', name: nameOf(args) })

const counted = (items: number): string => (items === 1 ? '1 item' : `${items} items`)

const nameOf = ({ second = '' }: Arguments): string => second

/** JSON text as it was written: a number keeps all of its digits. */
function objectText(text: string, what: string): string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`${what} is not JSON: ${String(cause)}`)
  }
  if (!isJsonObject(value)) throw new UsageError(`${what} must be a JSON object`)
  return text
}

interface ItemLine {
  readonly line: number
  readonly text: string
}

async function* batchesOf(file: string): AsyncGenerator<readonly ItemLine[]> {
  let [batch, characters]: [ItemLine[], number] = [[], 0]
  for await (const item of itemLines(file)) {
    const isFull =
      batch.length === MAX_BATCH.items || characters + item.text.length > MAX_BATCH.characters
    if (isFull && batch.length > 0) {
      yield batch
      ;[batch, characters] = [[], 0]
    }
    batch.push(item)
    characters += item.text.length
  }
  if (batch.length > 0) yield batch
}

async function* itemLines(file: string): AsyncGenerator<ItemLine> {
  let line = 0
  for await (const text of linesOf(file)) {
    line += 1
    if (text.trim() === '') continue
    if (line === 1 && text.trimStart().startsWith('[')) {
      throw new CommandError(
        `"${file}" is a JSON array: write one item a line, as jq -c '.[]' does`,
      )
    }
    try {
      yield { line, text: objectText(text, 'the item') }
    } catch (error) {
      throw new CommandError(`line ${line}: ${error instanceof Error ? error.message : ''}`)
    }
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: inputOf(file), crlfDelay: Infinity })
  } catch (cause) {
    throw unreadableFile(file, cause)
  }
}

function inputOf(file: string): NodeJS.ReadableStream {
  return file === '-' ? process.stdin : createReadStream(file)
}

const written = (items: number): string =>
  items === 0
    ? 'Nothing is written.'
    : `${counted(items)} of earlier lines ${items === 1 ? 'is' : 'are'} written.`

/** A batch is written whole or refused; of one that is refused each item is written alone, to find the one at fault. */
async function writeBatch(
  { service }: Invocation,
  path: string,
  { batch, count }: { readonly batch: readonly ItemLine[]; readonly count: number },
): Promise<void> {
  const write = (items: readonly ItemLine[]) => {
    const json = `{"puts":[${items.map(({ text }) => text).join(',')}]}`
    return service.portalAs(TABLE_ANSWERS['batch-write'], 'POST', path, { json })
  }
  try {
    await write(batch)
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error
    for (const [at, item] of batch.entries()) {
      await write([item]).catch((cause: unknown) => {
        const message = cause instanceof Error ? cause.message : String(cause)
        throw new CommandError(
          `line ${item.line}: ${message}\n${written(count + at)} Correct the line and import the file again: items that are there already are written again.`,
          { cause },
        )
      })
    }
  }
}
