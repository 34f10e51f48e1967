import type { ChildProcess } from 'node:child_process'
import { Duplex, type Readable, type Writable } from 'node:stream'

import { endOf, gitEnvironment, spawnGit } from './git-process.ts'
import { type DecidePush, answerHook } from './push-channel.ts'

const MAX_HEADER_BYTES = 16 * 1024
const CHANNEL = 3

/** One request of git's smart HTTP protocol. */
export interface GitHttpRequest {
  /** The absolute path of the folder that holds the repository. */
  readonly projectRoot: string
  /** The repository's name in it. */
  readonly repository: string
  readonly service: 'git-upload-pack' | 'git-receive-pack'
  /** Whether the refs are asked for, or the service itself. */
  readonly part: 'info/refs' | 'service'
  readonly headers: {
    readonly contentType: string | null
    readonly contentEncoding: string | null
    readonly gitProtocol: string | null
  }
  readonly body: ReadableStream<Uint8Array> | null
  readonly signal: AbortSignal
  /** For a push. */
  readonly decide?: DecidePush
}

export interface GitHttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array>
}

export interface GitHttpExchange {
  /** There once the whole request has been read, and git has begun to answer. */
  readonly answer: Promise<GitHttpAnswer>
  /** Settled when git has ended. Never rejects. */
  readonly ended: Promise<void>
}

/** Has `git http-backend` answer a request. Bytes go both ways as fast as they are taken. */
export function gitHttpBackend(request: GitHttpRequest): GitHttpExchange {
  const { signal, decide } = request
  const child = spawnGit(['http-backend'], {
    env: { ...gitEnvironment(), ...cgiOf(request) },
    signal,
    stdio: ['pipe', 'pipe', 'pipe', ...(decide ? (['pipe'] as const) : [])],
  })
  const channel = child.stdio[CHANNEL]
  if (decide && channel instanceof Duplex) answerHook(channel, decide)
  const ended = endOf(child, signal)
  const answer = answerOf(child, request, ended)
  answer.catch(() => {})
  return { answer, ended: ended.catch(() => {}) }
}

/** The variables of RFC 3875 that git reads. */
function cgiOf(request: GitHttpRequest): Record<string, string> {
  const { projectRoot, repository, service, part, headers } = request
  const isRefs = part === 'info/refs'
  const { contentType, contentEncoding, gitProtocol } = headers
  return {
    GIT_PROJECT_ROOT: projectRoot,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${repository}/${isRefs ? part : service}`,
    REQUEST_METHOD: isRefs ? 'GET' : 'POST',
    QUERY_STRING: isRefs ? `service=${service}` : '',
    REMOTE_USER: 'deploy',
    ...(contentType === null ? {} : { CONTENT_TYPE: contentType }),
    ...(contentEncoding === null ? {} : { HTTP_CONTENT_ENCODING: contentEncoding }),
    ...(gitProtocol === null ? {} : { HTTP_GIT_PROTOCOL: gitProtocol }),
  }
}

async function answerOf(
  child: ChildProcess,
  { body, signal }: GitHttpRequest,
  ended: Promise<void>,
): Promise<GitHttpAnswer> {
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('git was started without its streams')
  const sent = send(body, stdin)
  sent.catch(() => {})
  const chunks: AsyncIterator<Buffer> = stdout.iterator({ destroyOnReturn: false })
  const head = await headOf(chunks)
  if (!head) {
    await ended
    throw new Error('git ended without an answer')
  }
  // A runtime may release the request once it has the response.
  await sent
  signal.throwIfAborted()
  return { ...head, body: bodyOf(head.rest, chunks, child) }
}

/** Reads and discards what git does not read any more: the client reads the response only after it has sent all. */
async function send(body: ReadableStream<Uint8Array> | null, stdin: Writable): Promise<void> {
  let open = true
  stdin.on('error', () => (open = false)).on('close', () => (open = false))
  const reader = body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done || value === undefined) break
    if (open && !stdin.write(value)) await drained(stdin)
  }
  stdin.end()
}

const drained = (stdin: Writable): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      stdin.off('drain', go).off('close', go).off('error', go)
      resolve()
    }
    stdin.once('drain', go).once('close', go).once('error', go)
  })

interface Head {
  readonly status: number
  readonly headers: Headers
  /** The part of the body that has already arrived. */
  readonly rest: Buffer
}

async function headOf(chunks: AsyncIterator<Buffer>): Promise<Head | undefined> {
  let text: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = text.indexOf('\r\n\r\n')
    if (end !== -1) return parseHead(text.subarray(0, end).toString(), text.subarray(end + 4))
    if (text.byteLength > MAX_HEADER_BYTES) throw new Error('git answered without headers')
    const { done, value } = await chunks.next()
    if (done) return undefined
    text = Buffer.concat([text, value])
  }
}

function parseHead(text: string, rest: Buffer): Head {
  const headers = new Headers()
  let status = 200
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    if (name === 'status') status = Number.parseInt(value, 10)
    else if (['content-type', 'cache-control', 'expires', 'pragma'].includes(name)) {
      headers.set(name, value)
    }
  }
  return { status, headers, rest }
}

/** Who stops reading ends git. */
function bodyOf(
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
  child: ChildProcess,
): ReadableStream<Uint8Array> {
  const stdout: Readable | null = child.stdout
  let rest = first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = rest.byteLength > 0 ? { done: false, value: rest } : await chunks.next()
        rest = Buffer.alloc(0)
        if (next.done) controller.close()
        else controller.enqueue(new Uint8Array(next.value))
      },
      cancel() {
        stdout?.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
