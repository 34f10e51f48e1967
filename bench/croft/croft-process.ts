import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { startChild } from '#bench/child-process.ts'
import { freePorts } from '#bench/free-ports.ts'
import { httpCall } from '#bench/http-call.ts'
import { waitUntil } from '#bench/wait-until.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/croft.js', import.meta.url))
/** What would turn this into another installation than the one that `npm start` gives. */
const FOREIGN = /^(?:CROFT_|S3_|SMTP_|SUBMISSION_|DATABASE_URL$|REDIS_URL$|PORT$|HOST$)/

/** A fresh installation as `npm start` makes it: embedded database, in-process cache, its own sandbox hosts. */
export interface CroftProcess extends AsyncDisposable {
  readonly origin: string
  readonly smtpPort: number
  readonly submissionPort: number
  readonly pid: number
  readonly operatorKey: string
  /** Runs a command of the operator's tool and reads the JSON that it prints. */
  command<Answer>(...args: readonly string[]): Promise<Answer>
  /** Writes a line to its input, and waits for one that answers. */
  ask(line: string, answer: RegExp): Promise<string>
}

const SERVE = [process.execPath, PROGRAM, 'serve'] as const

/** `program` is the service in another dress; `settings` are variables of its environment. */
export async function startCroft(
  program: readonly string[] = SERVE,
  settings: Readonly<Record<string, string>> = {},
): Promise<CroftProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-'))
  // As root the database runs as another user, which needs access to the folder.
  await chmod(folder, 0o755)
  const [port, smtpPort = 0, submissionPort = 0] = await freePorts(3)
  const operatorKey = settings['CROFT_OPERATOR_KEY'] ?? randomBytes(32).toString('base64url')
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name))),
    CROFT_DATA_DIR: join(folder, 'data'),
    // One line for each request would fill the disk, and workerd writes none.
    CROFT_LOG_LEVEL: 'warn',
    CROFT_OPERATOR_KEY: operatorKey,
    PORT: String(port),
    SMTP_PORT: String(smtpPort),
    SUBMISSION_PORT: String(submissionPort),
    ...settings,
  }
  const origin = `http://127.0.0.1:${port}`
  const [executable = '', ...args] = program
  // Another checkout is asked by its own tool.
  const cli = args.find((word) => basename(word) === basename(PROGRAM)) ?? PROGRAM
  const child = startChild(executable, args, { env })
  const stop = async () => {
    await child[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await Promise.race([waitUntil('ready Croft', () => isReady(origin)), child.ended()])
  } catch (error) {
    await stop()
    throw error
  }
  return {
    origin,
    smtpPort,
    submissionPort,
    pid: child.pid,
    operatorKey,
    command: (...words) => runCommand([cli, ...words], env),
    async ask(line, answer) {
      const said = child.newLine((text) => answer.exec(text)?.[1])
      child.process.stdin?.write(`${line}\n`)
      return said
    },
    [Symbol.asyncDispose]: stop,
  }
}

async function isReady(origin: string): Promise<boolean> {
  try {
    const call = { origin, host: 'localhost', method: 'GET', path: '/readyz' } as const
    return (await httpCall(call)).status === 200
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return false
    throw error
  }
}

async function runCommand<Answer>(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Answer> {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [...args, '--json'], { env })
  const answer: Answer = JSON.parse(stdout)
  return answer
}
