import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

import { type GitCommand, GitFault, gitOutput, runGit } from './git-process.ts'

const MAX_LINE_BYTES = 8 * 1024

/** Where git finds the objects of a commit, and what ends reading them. */
export type GitSource = Pick<GitCommand, 'gitDir' | 'env' | 'signal'>

/** What a folder of a commit holds under one path. */
export interface TreeEntry {
  /** As git writes it: `100644`. */
  readonly mode: string
  readonly oid: string
  /** Undefined for what is no file. */
  readonly sizeBytes: number | undefined
  /** Inside the folder; undefined when it is not valid UTF-8. */
  readonly path: string | undefined
}

/** What the objects are: `commit`, `tag`, `tree`, `blob`, or undefined for those that are not there. */
export async function objectTypes(
  source: GitSource,
  oids: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const args = ['cat-file', '--batch-check=%(objecttype)']
  const input = oids.map((oid) => `${oid}\n`).join('')
  const lines = (await runGit({ ...source, args, input })).toString().trimEnd().split('\n')
  return new Map(
    oids.map((oid, index) => {
      const type = lines[index] ?? ''
      return [oid, /^[a-z]+$/.test(type) ? type : undefined]
    }),
  )
}

/** Whether the one commit is, or comes before, the other. */
export async function isAncestor(
  source: GitSource,
  older: string,
  newer: string,
): Promise<boolean> {
  try {
    await runGit({ ...source, args: ['merge-base', '--is-ancestor', older, newer] })
    return true
  } catch (error) {
    if (error instanceof GitFault && error.exitCode === 1) return false
    throw error
  }
}

/** The commit that a branch, tag or id names; undefined for what names none. */
export async function commitOf(source: GitSource, revision: string): Promise<string | undefined> {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
    return (await runGit({ ...source, args })).toString().trim()
  } catch (error) {
    if (error instanceof GitFault) return undefined
    throw error
  }
}

/** The entry of the path itself; undefined when there is none. */
export async function treeEntry(
  source: GitSource,
  commit: string,
  path: string,
): Promise<TreeEntry | undefined> {
  const args = ['ls-tree', '-z', '-l', '--full-tree', commit, '--', path]
  return entriesIn(await runGit({ ...source, args }))[0]
}

/** All that is under a folder of a commit. Undefined when it is not a folder. */
export async function treeEntries(
  source: GitSource,
  commit: string,
  folder: string,
): Promise<TreeEntry[] | undefined> {
  const tree = folder === '.' ? commit : `${commit}:${folder}`
  try {
    return entriesIn(await runGit({ ...source, args: ['ls-tree', '-r', '-z', '-l', tree] }))
  } catch (error) {
    if (error instanceof GitFault && error.exitCode === 128) return undefined
    throw error
  }
}

export const readBlob = (source: GitSource, oid: string): Promise<Buffer> =>
  runGit({ ...source, args: ['cat-file', 'blob', oid] })

export interface WrittenBlob {
  readonly oid: string
  readonly sha256: string
  readonly sizeBytes: number
  /** At most 256 bytes. */
  readonly beginning: Buffer
}

/** Writes each blob into the file that is named for it, byte for byte as the repository has it. */
export async function* writeBlobs(
  source: GitSource,
  oids: readonly string[],
  pathOf: (oid: string) => string,
): AsyncGenerator<WrittenBlob, void, undefined> {
  const input = oids.map((oid) => `${oid}\n`).join('')
  const bytes = new ByteReader(gitOutput({ ...source, args: ['cat-file', '--batch'], input }))
  try {
    for (const oid of oids) {
      const [found, type, size] = (await bytes.line()).split(' ')
      if (found !== oid || type !== 'blob' || size === undefined) {
        throw new Error(`git has no blob "${oid}"`)
      }
      yield await writeBlob(bytes, { oid, sizeBytes: Number(size), path: pathOf(oid) })
      await bytes.line()
    }
  } finally {
    await bytes.close()
  }
}

async function writeBlob(
  bytes: ByteReader,
  {
    oid,
    sizeBytes,
    path,
  }: { readonly oid: string; readonly sizeBytes: number; readonly path: string },
): Promise<WrittenBlob> {
  const hash = createHash('sha256')
  let beginning: Buffer = Buffer.alloc(0)
  await using file = await open(path, 'w', 0o600)
  for (let left = sizeBytes; left > 0;) {
    const chunk = await bytes.atMost(left)
    left -= chunk.byteLength
    if (beginning.byteLength < 256) {
      beginning = Buffer.concat([beginning, chunk.subarray(0, 256 - beginning.byteLength)])
    }
    hash.update(chunk)
    await file.writeFile(chunk)
  }
  return { oid, sha256: hash.digest('hex'), sizeBytes, beginning }
}

/** `mode type oid size`, a tab, the path; the size is padded, and `-` for what is no file. */
function entriesIn(output: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let start = 0; start < output.byteLength;) {
    const end = output.indexOf(0, start)
    const entry = output.subarray(start, end === -1 ? output.byteLength : end)
    start = end === -1 ? output.byteLength : end + 1
    const tab = entry.indexOf('\t')
    const [mode = '', , oid = '', size = ''] = entry.subarray(0, tab).toString().split(/ +/)
    const sizeBytes = size === '-' ? undefined : Number(size)
    entries.push({ mode, oid, sizeBytes, path: utf8(entry.subarray(tab + 1)) })
  }
  return entries
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Lines and byte counts from one stream. */
class ByteReader {
  readonly #chunks: AsyncGenerator<Buffer, void, undefined>
  #held: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncGenerator<Buffer, void, undefined>) {
    this.#chunks = chunks
  }

  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf('\n')
      if (end !== -1) {
        const line = this.#held.subarray(0, end).toString()
        this.#held = this.#held.subarray(end + 1)
        return line
      }
      if (this.#held.byteLength > MAX_LINE_BYTES) throw new Error('git printed no line')
      this.#held = Buffer.concat([this.#held, await this.#next()])
    }
  }

  async atMost(count: number): Promise<Buffer> {
    if (this.#held.byteLength === 0) this.#held = await this.#next()
    const part = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(part.byteLength)
    return part
  }

  async close(): Promise<void> {
    await this.#chunks.return()
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next()
    if (done) throw new Error('git ended too early')
    return value
  }
}
