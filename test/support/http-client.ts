import { type Agent, type IncomingMessage, request as httpRequest } from 'node:http'

export interface Call {
  readonly port: number
  /** The Host header; the connection always goes to `address`. */
  readonly host?: string
  readonly address?: string
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** A string or bytes go out as they are, an async iterable in chunks, anything else as JSON. */
  readonly body?: unknown
  /** Keeps connections alive between calls. */
  readonly agent?: Agent
  readonly signal?: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer
  readonly text: string
  /** Undefined when the body is empty; throws when it is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape itself
  readonly json: any
}

export interface ServerSentEvent {
  readonly event: string
  readonly data: string
  readonly id: string | undefined
}

/** One request over node:http: unlike fetch it can set Host, and nothing is retried or followed. */
export async function request(call: Call): Promise<Answer> {
  const response = await open(call)
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const text = bytes.toString()
  return {
    status: response.statusCode ?? 0,
    headers: flatHeaders(response),
    bytes,
    text,
    get json() {
      return text === '' ? undefined : JSON.parse(text)
    },
  }
}

/** Reads server-sent events until the server ends them or the caller stops iterating, which closes the connection. */
export async function* serverSentEvents(call: Call): AsyncGenerator<ServerSentEvent> {
  const response = await open({
    ...call,
    headers: { accept: 'text/event-stream', ...call.headers },
  })
  if (response.statusCode !== 200) {
    response.destroy()
    throw new Error(`${call.path} answered ${response.statusCode} instead of a stream`)
  }
  response.setEncoding('utf8')
  let buffered = ''
  try {
    for await (const chunk of response) {
      buffered += String(chunk)
      const blocks = buffered.split('\n\n')
      buffered = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parseEvent(block)
        if (event) yield event
      }
    }
  } finally {
    response.destroy()
  }
}

/** Resolves at the head of the response: the caller reads its body, or destroys it. */
export function open(call: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { bytes, type } = encode(call.body)
  const outgoing = httpRequest(
    {
      host: call.address ?? '127.0.0.1',
      port: call.port,
      method: call.method ?? 'GET',
      path: call.path,
      agent: call.agent ?? false,
      headers: {
        ...(call.host === undefined ? {} : { host: call.host }),
        ...(type === undefined ? {} : { 'content-type': type }),
        ...(bytes === undefined ? {} : { 'content-length': bytes.byteLength }),
        ...mutable(call.headers),
      },
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    },
    resolve,
  )
  outgoing.on('error', reject)
  if (isChunks(call.body)) void sendChunks(outgoing, call.body).catch(reject)
  else outgoing.end(bytes)
  return promise
}

async function sendChunks(
  outgoing: NodeJS.WritableStream,
  chunks: AsyncIterable<Uint8Array | string>,
): Promise<void> {
  for await (const chunk of chunks) {
    if (!outgoing.write(chunk)) await new Promise<void>((go) => outgoing.once('drain', () => go()))
  }
  outgoing.end()
}

function encode(body: unknown): { bytes?: Uint8Array; type?: string } {
  if (body === undefined || isChunks(body)) return {}
  if (body instanceof Uint8Array) return { bytes: body }
  if (typeof body === 'string') return { bytes: Buffer.from(body) }
  return { bytes: Buffer.from(JSON.stringify(body)), type: 'application/json' }
}

const isChunks = (body: unknown): body is AsyncIterable<Uint8Array | string> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body

const mutable = (headers: Call['headers'] = {}): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  )

const flatHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  )

function parseEvent(block: string): ServerSentEvent | undefined {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
  const all = (name: string) =>
    fields.filter((field) => field?.[1] === name).map((f) => f?.[2] ?? '')
  const data = all('data')
  if (data.length === 0) return undefined
  return { event: all('event').at(-1) ?? 'message', data: data.join('\n'), id: all('id').at(-1) }
}
