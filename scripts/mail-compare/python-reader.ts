import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(import.meta.resolve('./python_reader.py'))
const PYTHON = process.env['PYTHON_PATH'] ?? 'python3'
const OLDEST = 'import sys; sys.exit(sys.version_info < (3, 9))'

/** Text by its declared charset, null where Python knows none of that name; and the same bytes as UTF-8, null where they are not. */
export type ReferenceText = readonly [declared: string | null, utf8: string | null]

/** What Python's `email` reads of a message; a field is null where it raises an error. */
export interface ReferenceMail {
  readonly subject: string | null
  readonly from: readonly (readonly [name: string, address: string])[] | null
  readonly to: readonly (readonly [name: string, address: string])[] | null
  readonly cc: readonly (readonly [name: string, address: string])[] | null
  /** Of the fields of addresses those that Python finds fault with, and its faults of the whole. */
  readonly faulty: readonly string[]
  readonly defects: readonly string[]
  readonly texts: readonly ReferenceText[]
  /** The words of HTML. */
  readonly pages: readonly ReferenceText[]
  /** The text before and behind the parts of multiparts. */
  readonly outside: readonly string[]
  readonly attachments: readonly {
    readonly filename: string | null
    readonly contentType: string
    readonly encoding: string
    /** Whether Python finds fault with its type or disposition. */
    readonly isFaulty: boolean
    /** Null for a message inside the message, which Python does not keep as it was. */
    readonly sizeBytes: number | null
    readonly sha256: string | null
  }[]
}

/** Why there is no Python here, or undefined. In CI that is an error, not a skip. */
export function pythonMissing(): string | undefined {
  if (spawnSync(PYTHON, ['-c', OLDEST]).status === 0) return undefined
  const why = `The comparison with Python's email needs "${PYTHON}" of 3.9 or later, or PYTHON_PATH to say where it is`
  if (process.env['CI']) throw new Error(why)
  return why
}

/** Reads the files one after the other, in one process; undefined for those that Python cannot read at all. */
export async function* readWithPython(
  paths: readonly string[],
): AsyncGenerator<ReferenceMail | undefined> {
  const child = spawn(PYTHON, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  child.stdin.end(paths.map((path) => `${path}\n`).join(''))
  let read = 0
  for await (const line of createInterface(child.stdout)) {
    read += 1
    const answer: unknown = JSON.parse(line)
    yield isReference(answer) ? answer : undefined
  }
  if (read < paths.length) throw new Error(`Python read ${read} of ${paths.length} files`)
}

/** The program is our own: it prints either this, or an error. */
const isReference = (answer: unknown): answer is ReferenceMail =>
  typeof answer === 'object' && answer !== null && !('error' in answer)
