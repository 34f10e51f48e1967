import { basename, dirname, isAbsolute, relative, resolve } from 'node:path'

import { type SystemCall, writtenBytes } from './system-calls.ts'

/** Entries of a folder, by their names. */
export type Entries = ReadonlyMap<string, FileNode | FolderNode>

export class FolderNode {
  /** The line where the call that made it began, which tells it from others. */
  readonly made: number
  /** As programs see it. */
  readonly entries = new Map<string, FileNode | FolderNode>()
  /** As the disk has it. */
  readonly durable = new Map<string, FileNode | FolderNode>()

  constructor(made: number) {
    this.made = made
  }
}

export class FileNode {
  readonly made: number
  /** Opened with `O_DSYNC`: each write is on the disk when it returns. */
  writesThrough = false
  /** Undefined where the log lacks some of it. */
  content: Buffer | undefined = Buffer.alloc(0)
  #sizeBytes = 0
  /** Lengths after each write, and when it returned. */
  readonly #writes: { readonly ended: number; readonly sizeBytes: number }[] = []
  #flushed = 0

  constructor(made: number) {
    this.made = made
  }

  /** Bytes from the start that are on the disk; undefined when all are. */
  get durableBytes(): number | undefined {
    if (this.#flushed === this.#writes.length) return undefined
    return this.#writes[this.#flushed - 1]?.sizeBytes ?? 0
  }

  /** At the end where no place is given. */
  write(ended: number, bytes: Buffer | number, offset = this.#sizeBytes): void {
    const length = typeof bytes === 'number' ? bytes : bytes.byteLength
    this.#sizeBytes = Math.max(this.#sizeBytes, offset + length)
    this.content =
      typeof bytes === 'number' || this.content === undefined
        ? undefined
        : overwritten(this.content, bytes, offset)
    this.#note(ended)
  }

  truncate(ended: number, sizeBytes: number): void {
    this.#sizeBytes = sizeBytes
    this.content = this.content?.subarray(0, sizeBytes)
    this.#note(ended)
  }

  /** What was written before a flush began. */
  flush(before: number): void {
    const later = this.#writes.findIndex(({ ended }) => ended >= before)
    this.#flushed = Math.max(this.#flushed, later === -1 ? this.#writes.length : later)
  }

  #note(ended: number): void {
    this.#writes.push({ ended, sizeBytes: this.#sizeBytes })
    if (this.writesThrough) this.flush(Number.POSITIVE_INFINITY)
  }
}

function overwritten(content: Buffer, bytes: Buffer, offset: number): Buffer {
  const all = Buffer.alloc(Math.max(content.byteLength, offset + bytes.byteLength))
  content.copy(all)
  bytes.copy(all, offset)
  return all
}

interface EntryChange {
  readonly folder: FolderNode
  readonly name: string
  /** Undefined when the name goes. */
  readonly node: FileNode | FolderNode | undefined
}

/** What one call changed in folders, and the disk may not have yet. It has all of it or nothing. */
export interface PendingChange {
  readonly ended: number
  readonly changes: readonly EntryChange[]
}

/**
 * The files below a folder as a disk has them that keeps nothing until it must: bytes of a file after `fsync` or a write with `O_DSYNC`,
 * names after `fsync` of their folder. Of the rest a power cut may leave any part. Descriptors are known by the path that strace shows,
 * relative names of programs are not followed.
 */
export class DurableFiles {
  readonly root: string
  readonly tree = new FolderNode(-1)
  pending: readonly PendingChange[] = []
  readonly #isOpaque: (path: string) => boolean

  /** The folder is there and empty. Of opaque folders only the names themselves are looked at. */
  constructor(root: string, isOpaque: (path: string) => boolean = () => false) {
    this.root = root
    this.#isOpaque = isOpaque
  }

  /** Returns whether a power cut leaves something else from now on. */
  apply(call: SystemCall): boolean {
    return APPLY[call.name]?.(this, call) ?? false
  }

  find(path: string): FileNode | FolderNode | undefined {
    const place = this.#place(path)
    if (place === undefined) return path === this.root ? this.tree : undefined
    return place.folder.entries.get(place.name)
  }

  /** Changes names at once for programs, later on the disk. */
  change(
    ended: number,
    changes: readonly (readonly [string, FileNode | FolderNode | undefined])[],
  ): boolean {
    const found: EntryChange[] = []
    for (const [path, node] of changes) {
      const place = this.#place(path)
      if (place !== undefined) found.push({ ...place, node })
    }
    if (found.length === 0) return false
    for (const { folder, name, node } of found) {
      if (node === undefined) folder.entries.delete(name)
      else folder.entries.set(name, node)
    }
    this.pending = [...this.pending, { ended, changes: found }]
    return true
  }

  flush(path: string | undefined, before: number): boolean {
    const node = path === undefined ? undefined : this.find(path)
    if (node instanceof FileNode) node.flush(before)
    if (node instanceof FolderNode) this.#flushFolder(node, before)
    return node !== undefined
  }

  #flushFolder(folder: FolderNode, before: number): void {
    const isDone = ({ ended, changes }: PendingChange) =>
      ended < before && changes.some((change) => change.folder === folder)
    const done = this.pending.filter(isDone)
    for (const { changes } of done) setEntries(changes, (each) => each.durable)
    const names = done.flatMap(({ changes }) => changes)
    const last = Math.max(...done.map(({ ended }) => ended))
    // What changed the same names before is in the past.
    const isPast = (change: EntryChange, ended: number) =>
      ended <= last &&
      names.some(({ folder: f, name }) => f === change.folder && name === change.name)
    this.pending = this.pending
      .filter((each) => !isDone(each))
      .map(({ ended, changes }) => ({
        ended,
        changes: changes.filter((change) => !isPast(change, ended)),
      }))
      .filter(({ changes }) => changes.length > 0)
  }

  /** Undefined for what is elsewhere, or below an opaque folder. */
  #place(path: string): { readonly folder: FolderNode; readonly name: string } | undefined {
    const below = relative(this.root, path)
    if (below === '' || below.startsWith('..') || isAbsolute(below)) return undefined
    let folder = this.tree
    let at = this.root
    const names = dirname(below) === '.' ? [] : dirname(below).split('/')
    for (const name of names) {
      at = `${at}/${name}`
      if (this.#isOpaque(at)) return undefined
      const next = folder.entries.get(name)
      if (!(next instanceof FolderNode)) return undefined
      folder = next
    }
    return { folder, name: basename(below) }
  }
}

export function setEntries(
  changes: readonly EntryChange[],
  entriesOf: (folder: FolderNode) => Map<string, FileNode | FolderNode>,
): void {
  for (const { folder, name, node } of changes) {
    if (node === undefined) entriesOf(folder).delete(name)
    else entriesOf(folder).set(name, node)
  }
}

type Apply = (files: DurableFiles, call: SystemCall) => boolean

const opened: Apply = (files, { name, args, file, begun, ended }) => {
  if (file === undefined) return false
  const creates = name === 'creat' || args.includes('O_CREAT')
  const there = files.find(file)
  const node = there ?? (creates ? new FileNode(begun) : undefined)
  if (!(node instanceof FileNode)) return false
  if (/\bO_D?SYNC\b/.test(args)) node.writesThrough = true
  if (there === undefined) return files.change(ended, [[file, node]])
  if (name === 'creat' || args.includes('O_TRUNC')) node.truncate(ended, 0)
  return true
}

const fileOf = (files: DurableFiles, path: string | undefined): FileNode | undefined => {
  const node = path === undefined ? undefined : files.find(path)
  return node instanceof FileNode ? node : undefined
}

const written: Apply = (files, call) => {
  const node = fileOf(files, call.file)
  node?.write(call.ended, writtenBytes(call) ?? call.result)
  return node !== undefined
}

const OFFSET = /, (-?\d+)$/
const OFFSET_AND_FLAGS = /, (-?\d+), \w+$/

/** The offset is the last argument, and of `pwritev2` the one before. */
const writtenAt: Apply = (files, call) => {
  const node = fileOf(files, call.file)
  const [, offset] = (call.name === 'pwritev2' ? OFFSET_AND_FLAGS : OFFSET).exec(call.args) ?? []
  const isAtEnd = offset === undefined || offset === '-1'
  const bytes = writtenBytes(call) ?? call.result
  node?.write(call.ended, bytes, isAtEnd ? undefined : Number(offset))
  return node !== undefined
}

/** Two descriptors, the second is written to. */
const copied: Apply = (files, { args, result, ended }) => {
  const node = fileOf(files, /, \d+<(.*?)>/.exec(args)?.[1])
  node?.write(ended, result)
  return node !== undefined
}

const sent: Apply = (files, { file, result, ended }) => {
  const node = fileOf(files, file)
  node?.write(ended, result)
  return node !== undefined
}

const truncated: Apply = (files, call) => {
  const node = fileOf(files, call.name === 'truncate' ? pathsOf(call)[0] : call.file)
  node?.truncate(call.ended, Number(/, (\d+)$/.exec(call.args)?.[1]))
  return node !== undefined
}

const flushed: Apply = (files, { file, begun }) => files.flush(file, begun)

const made: Apply = (files, call) => {
  const [path] = pathsOf(call)
  return path !== undefined && files.change(call.ended, [[path, new FolderNode(call.begun)]])
}

const removed: Apply = (files, call) => {
  const [path] = pathsOf(call)
  return path !== undefined && files.change(call.ended, [[path, undefined]])
}

const moved: Apply = (files, call) => {
  const [from, to] = pathsOf(call)
  if (from === undefined || to === undefined) return false
  const node = files.find(from)
  if (node === undefined) return false
  return files.change(call.ended, [
    [from, undefined],
    [to, node],
  ])
}

const linked: Apply = (files, call) => {
  const [from, to] = pathsOf(call)
  const node = from === undefined ? undefined : files.find(from)
  if (node === undefined || to === undefined) return false
  return files.change(call.ended, [[to, node]])
}

const APPLY: Readonly<Record<string, Apply>> = {
  open: opened,
  openat: opened,
  openat2: opened,
  creat: opened,
  write: written,
  writev: written,
  pwrite64: writtenAt,
  pwritev: writtenAt,
  pwritev2: writtenAt,
  truncate: truncated,
  ftruncate: truncated,
  copy_file_range: copied,
  sendfile: sent,
  fsync: flushed,
  fdatasync: flushed,
  mkdir: made,
  mkdirat: made,
  rmdir: removed,
  unlink: removed,
  unlinkat: removed,
  rename: moved,
  renameat: moved,
  renameat2: moved,
  link: linked,
  linkat: linked,
}

/**
 * Threads do things at once: the log may have a file before the return of the call that made its folder. Returns the calls with each
 * folder made before the first call that succeeded in it, since what began after that one finds the folder there, too.
 */
export function foldersFirst(calls: readonly SystemCall[]): SystemCall[] {
  const ordered: SystemCall[] = []
  for (const call of calls) {
    const isIn = call.name.startsWith('mkdir') ? isWithin(pathsOf(call)[0]) : undefined
    const at =
      isIn === undefined ? -1 : ordered.findIndex((each) => each.ended > call.begun && isIn(each))
    const first = ordered[at]
    if (first === undefined) ordered.push(call)
    else ordered.splice(at, 0, { ...call, ended: first.ended })
  }
  return ordered
}

const isWithin =
  (folder = '/') =>
  (call: SystemCall): boolean =>
    [call.file ?? '', ...pathsOf(call)].some((path) => path.startsWith(`${folder}/`))

/** The paths of a call, those of the `…at` family too where strace shows the folder. */
function pathsOf({ args, strings }: SystemCall): string[] {
  const folders = [...args.matchAll(/(?:AT_FDCWD|\d+)<(.*?)>, "/gs)].map(
    ([, folder = '']) => folder,
  )
  return strings.flatMap((path, at) => {
    if (isAbsolute(path)) return [path]
    const folder = folders[at]
    return folder === undefined ? [] : [resolve(folder, path)]
  })
}
