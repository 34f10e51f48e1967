import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { hasCode } from '#base/error-code.ts'
import { KeyedMutex } from '#base/keyed-mutex.ts'
import {
  type RepositoryView,
  addPack,
  hasPack,
  removeView,
  writeHooks,
  writeView,
} from '#platform/git/bare-repository.ts'

import type { RepositoryPacks } from './packs.ts'
import type { RepositorySnapshot } from './queries.ts'

const FOLDER = /^mirror-(\d+)-/

export interface OpenView extends AsyncDisposable {
  /** The absolute folder that holds the view, and its name in it. */
  readonly projectRoot: string
  readonly name: string
  readonly gitDir: string
  readonly objectsDir: string
}

export interface ViewRequest {
  readonly siteId: string
  readonly snapshot: RepositorySnapshot | undefined
  readonly headBranch: string
  readonly maxPushBytes: number
  readonly signal: AbortSignal
}

/**
 * Copies of repositories on this machine, for git to read. Nothing relies on them: each process begins with none, and a request
 * works on a view of its own, with the refs as the database has them.
 */
export class RepositoryMirror implements AsyncDisposable {
  readonly #packs: Pick<RepositoryPacks, 'get'>
  readonly #parent: string
  readonly #root: string
  readonly #mutex = new KeyedMutex()
  #made: Promise<void> | undefined

  /** `cacheDir` is absolute. */
  constructor(deps: { readonly packs: Pick<RepositoryPacks, 'get'>; readonly cacheDir: string }) {
    this.#packs = deps.packs
    this.#parent = deps.cacheDir
    this.#root = join(deps.cacheDir, `mirror-${process.pid}-${randomUUID()}`)
  }

  async open(request: ViewRequest): Promise<OpenView> {
    this.#made ??= this.#make()
    await this.#made
    const { siteId, snapshot, headBranch, maxPushBytes } = request
    const projectRoot = join(this.#root, 'views')
    const name = randomUUID()
    const view: RepositoryView = {
      gitDir: join(projectRoot, name),
      objectsDir: join(this.#root, 'sites', siteId, 'objects'),
      hooksDir: this.#hooksDir,
      headBranch,
      refs: snapshot?.refs ?? [],
      maxPushBytes,
    }
    await mkdir(join(view.objectsDir, 'pack'), { recursive: true, mode: 0o700 })
    await writeView(view)
    const opened = {
      projectRoot,
      name,
      gitDir: view.gitDir,
      objectsDir: view.objectsDir,
      [Symbol.asyncDispose]: () => removeView(view.gitDir),
    }
    try {
      await this.#mutex.run(siteId, () => this.#addMissing(view, request))
      return opened
    } catch (error) {
      await removeView(view.gitDir)
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true })
  }

  get #hooksDir(): string {
    return join(this.#root, 'hooks')
  }

  async #addMissing(
    view: RepositoryView,
    { siteId, snapshot, signal }: ViewRequest,
  ): Promise<void> {
    for (const stored of snapshot?.packs ?? []) {
      if (await hasPack(view.objectsDir, stored.pack)) continue
      const body = await this.#packs.get(siteId, stored)
      await addPack(view, stored.pack, { body, signal })
    }
  }

  async #make(): Promise<void> {
    await mkdir(this.#parent, { recursive: true, mode: 0o700 })
    for (const name of await readdir(this.#parent)) {
      const pid = Number(FOLDER.exec(name)?.[1])
      if (isGone(pid)) await rm(join(this.#parent, name), { recursive: true, force: true })
    }
    await writeHooks(this.#hooksDir)
  }
}

/** Whether a folder is what a process has left behind that was killed. */
function isGone(pid: number): boolean {
  if (Number.isNaN(pid)) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}
