import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'

import { killGroup } from './kill-group.ts'

const COMPLAINT_CHARACTERS = 2000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024
/** Address space of one git process: what a crafted pack makes it ask for ends it, and not the machine. */
const ADDRESS_SPACE_KIB = 2 * 1024 * 1024
/** Where the system does not know a limit it goes without. The words of the call are arguments: nothing reads them as code. */
const LIMITED = `ulimit -v ${ADDRESS_SPACE_KIB} 2>/dev/null; ulimit -c 0 2>/dev/null; exec "$@"`

/** What git said as it failed. */
export class GitFault extends Error {
  override readonly name = 'GitFault'
  readonly exitCode: number | null

  constructor(exitCode: number | null, complaint: string) {
    super(complaint === '' ? `git ended with ${exitCode}` : complaint)
    this.exitCode = exitCode
  }
}

export interface GitCommand {
  readonly args: readonly string[]
  /** The absolute path of the bare repository. */
  readonly gitDir: string
  readonly signal: AbortSignal
  readonly input?: string
  /** Beside what every git process is given. */
  readonly env?: Readonly<Record<string, string>>
}

/** What git prints. Throws a `GitFault` when it fails, and the signal's reason when that ends it. */
export async function runGit(command: GitCommand): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of gitOutput(command)) {
    size += chunk.byteLength
    if (size > MAX_OUTPUT_BYTES) throw new GitFault(null, 'git printed too much')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The same, as it is printed. A caller that stops reading ends git. */
export async function* gitOutput(command: GitCommand): AsyncGenerator<Buffer, void, undefined> {
  const { args, gitDir, signal, input = '', env = {} } = command
  const child = spawnGit(args, { env: { ...gitEnvironment(), ...env, GIT_DIR: gitDir }, signal })
  const ended = endOf(child, signal)
  // Awaited below; until then a rejection has no handler.
  ended.catch(() => {})
  child.stdin?.on('error', () => {}).end(input)
  try {
    yield* bytesOf(child.stdout)
    await ended
  } finally {
    if (child.exitCode === null) killGroup(child.pid)
  }
}

/** Starts git in a process group of its own, within limits; the signal kills the group. */
export function spawnGit(
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string>>
    readonly signal: AbortSignal
    readonly stdio?: SpawnOptions['stdio']
  },
): ChildProcess {
  const { env, signal, stdio = ['pipe', 'pipe', 'pipe'] } = options
  const child = spawn('/bin/sh', ['-c', LIMITED, 'git', 'git', ...args], {
    stdio,
    env,
    detached: true,
  })
  const end = () => killGroup(child.pid)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  child.once('close', () => signal.removeEventListener('abort', end))
  return child
}

/** Nothing of the machine's configuration, and none of the service's secrets. */
export function gitEnvironment(): Record<string, string> {
  return {
    // oxlint-disable-next-line node/no-process-env -- where git's own programs are
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
  }
}

/** Resolves when git has ended well. */
export function endOf(child: ChildProcess, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARACTERS)
  })
  child.on('error', (error) => reject(startFault(error)))
  child.on('close', (code) => {
    if (code === 0) resolve()
    else if (signal.aborted) reject(signal.reason)
    else if (code === 127) reject(noGit())
    else reject(new GitFault(code, complaint.trim()))
  })
  return promise
}

const bytesOf = (stream: Readable | null): AsyncIterable<Buffer> => stream ?? emptyStream()

async function* emptyStream(): AsyncGenerator<Buffer> {
  // Nothing.
}

const startFault = (error: Error): Error => (hasCode(error, 'ENOENT') ? noGit(error) : error)

const noGit = (cause?: Error): AppError =>
  new AppError(
    'SourceUnavailable',
    'Repositories need the program "git" on the PATH of the service: install it (apt-get install git)',
    { cause },
  )
