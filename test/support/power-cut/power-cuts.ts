import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import {
  DurableFiles,
  type Entries,
  type FileNode,
  FolderNode,
  type PendingChange,
  foldersFirst,
  setEntries,
} from './durable-files.ts'
import { type SystemCall, parseCalls } from './system-calls.ts'

export interface TracedFolder {
  /** The log of `traced`. */
  readonly log: string
  /** Was empty when the trace began. */
  readonly root: string
  /** Folders of programs that are trusted: they come back as they are now. */
  readonly isOpaque?: (path: string) => boolean
}

/** What a disk may have after its power was cut behind a line of the log. */
export interface PowerCut {
  readonly line: number
  /** Which of the changes that nothing has flushed it has. */
  readonly kept: string
  /** Makes that tree, or the part of it below a folder, in a folder that is not there yet. */
  restore(to: string, below?: string): void
}

/** All that traced programs did below a folder, and what power cuts would have left of it. */
export class TracedFiles {
  readonly calls: readonly SystemCall[]
  readonly #traced: TracedFolder

  constructor(trace: TracedFolder) {
    this.#traced = trace
    this.calls = foldersFirst(parseCalls(readFileSync(trace.log, 'utf8')))
  }

  /** The lines at which programs wrote a text that matches, by its first group. */
  outputs(pattern: RegExp): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (const { name, strings, begun } of this.calls) {
      if (name !== 'write' && name !== 'writev') continue
      for (const [, word = ''] of strings.join('').matchAll(pattern)) found.set(word, begun)
    }
    return found
  }

  /** The line of the last bytes that left from a local port before that time. */
  lastSent(port: number, beforeMs: number): number {
    const from = new RegExp(`^TCP(?:v6)?:\\[\\S*:${port}->`)
    const sent = this.calls.findLast(
      ({ file, beganMs }) => beganMs <= beforeMs && file !== undefined && from.test(file),
    )
    if (sent === undefined) throw new Error(`Nothing left from port ${port}`)
    return sent.begun
  }

  /**
   * Cuts the power behind each call after which it leaves something else: on a disk that has nothing but what it must have, on one
   * that has all changes of names, on one that has the newest of them alone, and on one that lacks that one.
   */
  *cuts(): Generator<PowerCut> {
    const { root, isOpaque = () => false } = this.#traced
    const files = new DurableFiles(root, isOpaque)
    const left = this.#left()
    let last: PendingChange | undefined
    for (const call of this.calls) {
      if (!files.apply(call)) continue
      const { pending } = files
      const cut = (kept: string, has: (change: PendingChange) => boolean): PowerCut => {
        const entriesOf = overlaid(pending.filter(has))
        return {
          line: call.ended,
          kept,
          restore: (to, below) => {
            restoreFolder(folderIn(files.tree, below, entriesOf), to, { isOpaque, entriesOf, left })
          },
        }
      }
      yield cut('nothing', () => false)
      const newest = pending.at(-1)
      if (newest === undefined) continue
      yield cut('all names', () => true)
      if (newest === last) continue
      last = newest
      yield cut('the newest name alone', (change) => change === newest)
      yield cut('all names but the newest', (change) => change !== newest)
    }
  }

  /** Where the files and folders are that are still there, by the lines that made them. */
  #left(): ReadonlyMap<number, string> {
    const { root, isOpaque } = this.#traced
    const files = new DurableFiles(root, isOpaque)
    for (const call of this.calls) files.apply(call)
    return new Map(pathsBelow(files.tree, root))
  }
}

function* pathsBelow(folder: FolderNode, path: string): Generator<[number, string]> {
  for (const [name, node] of folder.entries) {
    yield [node.made, join(path, name)]
    if (node instanceof FolderNode) yield* pathsBelow(node, join(path, name))
  }
}

type EntriesOf = (folder: FolderNode) => Entries

/** What folders have on the disk with these changes. */
function overlaid(changes: readonly PendingChange[]): EntriesOf {
  const changed = new Map<FolderNode, Map<string, FileNode | FolderNode>>()
  const copyOf = (folder: FolderNode): Map<string, FileNode | FolderNode> => {
    const copy = changed.get(folder) ?? new Map(folder.durable)
    changed.set(folder, copy)
    return copy
  }
  for (const { changes: each } of changes) setEntries(each, copyOf)
  return (folder) => changed.get(folder) ?? folder.durable
}

function folderIn(tree: FolderNode, below = '', entriesOf: EntriesOf): FolderNode | undefined {
  let folder: FolderNode | undefined = tree
  for (const name of below.split('/').filter((each) => each !== '')) {
    const next: FileNode | FolderNode | undefined = folder && entriesOf(folder).get(name)
    folder = next instanceof FolderNode ? next : undefined
  }
  return folder
}

interface Restoring {
  readonly isOpaque: (path: string) => boolean
  readonly entriesOf: EntriesOf
  readonly left: ReadonlyMap<number, string>
}

/** Nothing where the folder is not there. */
function restoreFolder(folder: FolderNode | undefined, to: string, from: Restoring): void {
  if (folder === undefined) return
  const path = from.left.get(folder.made)
  if (path !== undefined && from.isOpaque(path)) {
    // With its owner and its modes.
    execFileSync('cp', ['--archive', path, to])
    return
  }
  mkdirSync(to)
  for (const [name, node] of from.entriesOf(folder)) {
    const target = join(to, name)
    if (node instanceof FolderNode) restoreFolder(node, target, from)
    else restoreFile(node, target, from.left.get(node.made))
  }
}

/** Whole if it was flushed. Of one that went later, and that the log lacks, what was in it is not known. */
function restoreFile(file: FileNode, to: string, path: string | undefined): void {
  const { content, durableBytes } = file
  if (content !== undefined) return writeFileSync(to, content.subarray(0, durableBytes))
  if (path === undefined || durableBytes === 0) return writeFileSync(to, '')
  cpSync(path, to)
  if (durableBytes !== undefined) truncateSync(to, durableBytes)
}
