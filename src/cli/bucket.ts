import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'

import { contentTypeOf } from '#base/content-type.ts'
import { BUCKET_ANSWERS } from '#runtime/buckets/answers.ts'

import { columns, printable } from './columns.ts'
import { type CliCommand, type Invocation, flagOption, textOption } from './command.ts'
import { CommandError, UsageError, unreadableFile } from './errors.ts'
import { contentPath } from './resource.ts'

const REMOTE = /^s3:\/\/([^/]+)(?:\/(.*))?$/s

export const bucketList: CliCommand = {
  name: 'bucket ls',
  summary: 'List the objects of a bucket: folders as prefixes, or all with --recursive',
  words: ['DOMAIN', 'BUCKET', '[PREFIX]'],
  options: [flagOption('--recursive', 'all objects below the prefix')],
  async run(call) {
    const { args, service } = call
    const path = await bucketPath(call, args.second ?? '')
    const request = {
      prefix: args.third ?? '',
      ...(args.flag('recursive') ? {} : { delimiter: '/' }),
    }
    const [items, prefixes]: [{ key: string; size: number; lastModified: string }[], string[]] = [
      [],
      [],
    ]
    for (let token: string | null = ''; token !== null;) {
      const body: object = token === '' ? request : { ...request, nextToken: token }
      const page = await service.portalAs(
        BUCKET_ANSWERS['list-objects'],
        'POST',
        `${path}/list-objects`,
        { body },
      )
      items.push(...page.items)
      prefixes.push(...page.commonPrefixes)
      token = page.nextToken
    }
    const rows = [
      ...prefixes.map((prefix) => ['', '', prefix]),
      ...items.map(({ key, size, lastModified }) => [lastModified, String(size), key]),
    ].map((row) => row.map(printable))
    return {
      json: { items, commonPrefixes: prefixes },
      text: rows.length === 0 ? 'Nothing there' : columns(rows),
    }
  },
}

export const bucketCopy: CliCommand = {
  name: 'bucket cp',
  summary:
    'Copy a file into a bucket, or an object out of it: one side is s3://BUCKET/KEY, - is stdin or stdout',
  words: ['DOMAIN', 'FROM', 'TO'],
  options: [
    textOption('--content-type <type>', 'of the object; by the name of the file by default'),
  ],
  async run(call) {
    const [from, to] = [call.args.second ?? '', call.args.third ?? '']
    const [source, target] = [REMOTE.exec(from), REMOTE.exec(to)]
    if ((source === null) === (target === null)) {
      throw new UsageError(
        'one of FROM and TO is an object, as s3://BUCKET/KEY, and the other a file',
      )
    }
    if (source) return download(call, remoteOf(source, basename(to)), to)
    return upload(call, from, remoteOf(target, basename(from)))
  },
}

interface RemoteObject {
  readonly bucket: string
  readonly key: string
}

/** A key that ends with a slash, or is left out, gets the name of the file. */
function remoteOf(match: RegExpExecArray | null, fileName: string): RemoteObject {
  const [, bucket = '', key = ''] = match ?? []
  return { bucket, key: key === '' || key.endsWith('/') ? key + fileName : key }
}

async function upload(call: Invocation, file: string, { bucket, key }: RemoteObject) {
  const { args, service } = call
  const isStdin = file === '-'
  const whole = isStdin ? await buffer(process.stdin) : undefined
  const sizeBytes = whole?.byteLength ?? (await sizeOf(file))
  const contentType = args.text('contentType') ?? contentTypeOf(isStdin ? key : file)
  const path = await bucketPath(call, bucket)
  const body = { key, sizeBytes, contentType }
  const signed = await service.portalAs(
    BUCKET_ANSWERS['presign-put-object'],
    'POST',
    `${path}/presign-put-object`,
    { body },
  )
  const bytes = whole === undefined ? createReadStream(file) : [whole]
  await service.upload(signed, { sizeBytes, bytes: asyncBytes(bytes) })
  return {
    json: { bucket, key, sizeBytes, contentType },
    text: `${file} is s3://${bucket}/${key} now (${sizeBytes} bytes, ${contentType}).`,
  }
}

async function download(call: Invocation, { bucket, key }: RemoteObject, to: string) {
  const { service } = call
  const path = await bucketPath(call, bucket)
  const { url } = await service.portalAs(
    BUCKET_ANSWERS['presign-get-object'],
    'POST',
    `${path}/presign-get-object`,
    { body: { key } },
  )
  const missing = `${call.args.word} has no object s3://${bucket}/${key}`
  const bytes = service.download(url, missing)
  if (to === '-') return { bytes }
  const first = await bytes.next()
  const file = to.endsWith('/') || to === '.' ? `${to.replace(/\/$/, '')}/${basename(key)}` : to
  await pipeline(rest(first, bytes), createWriteStream(file))
  return { json: { bucket, key, file }, text: `s3://${bucket}/${key} is ${file} now.` }
}

/** Nothing is written before the first bytes are there: a missing object leaves no file. */
async function* rest(
  first: IteratorResult<Uint8Array, void>,
  bytes: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array> {
  if (first.done !== true) yield first.value
  yield* bytes
}

async function* asyncBytes(
  chunks: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (chunk instanceof Uint8Array) yield chunk
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((cause: unknown) => {
    throw unreadableFile(file, cause)
  })
  if (found.isFile()) return found.size
  throw new CommandError(`"${file}" is no file: copy one file at a time`)
}

const bucketPath = ({ args, service }: Invocation, bucket: string): Promise<string> =>
  contentPath(service, args.word, { type: 's3Bucket', name: bucket })
