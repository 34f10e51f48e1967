import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { systemClock } from '#base/clock.ts'
import { ifMissing } from '#base/error-code.ts'
import { readChunk } from '#platform/backup/chunks.ts'
import { FolderPlace } from '#platform/backup/folder-place.ts'
import { FileObjectStore } from '#platform/objects/file-object-store.ts'
import { History, contentOf } from '#test/power-cut/history.ts'
import { TracedFiles } from '#test/power-cut/power-cuts.ts'
import { type TraceOptions, straceMissing, traced } from '#test/power-cut/strace.ts'
import { type Runtime, scriptCommand } from '#test/runtimes.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

type Read = (folder: string) => Promise<(name: string) => Promise<Buffer | undefined>>

const missing = straceMissing()
let cleanUp: AsyncDisposableStack
beforeAll(() => {
  cleanUp = new AsyncDisposableStack()
})
afterAll(() => cleanUp.disposeAsync())

/** What a program did in a folder of its own, with that folder. */
async function trace(
  runtime: Runtime,
  program: string,
  options: TraceOptions & { readonly args?: readonly string[] } = {},
): Promise<TracedFiles> {
  const folder = await temporaryFolder(cleanUp, 'croft-power-cut-')
  const [root, log] = [join(folder, 'disk'), join(folder, 'log')]
  await mkdir(root)
  const file = new URL(`programs/${program}.ts`, import.meta.url)
  const script = scriptCommand(runtime, file, [join(root, 'place/of/all'), ...(options.args ?? [])])
  const [command = '', ...args] = traced(log, script, options)
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  expect(await once(child, 'exit')).toEqual([0, null])
  return new TracedFiles({ log, root })
}

/** What was acknowledged before a power cut and is not there after it, for every one. */
async function lost(files: TracedFiles, history: History, read: Read): Promise<string[]> {
  const folder = await temporaryFolder(cleanUp, 'croft-power-cut-')
  const lost: string[] = []
  for (const cut of files.cuts()) {
    const disk = join(folder, 'disk')
    cut.restore(disk)
    const faults = await history.faults(cut.line, await read(join(disk, 'place/of/all')))
    lost.push(...faults.map((fault) => `${fault}, on a disk that kept ${cut.kept}`))
    await rm(disk, { recursive: true, force: true })
  }
  return [...new Set(lost)]
}

const objectsIn: Read = async (dir) => {
  const store = await new FileObjectStore({
    dir,
    urls: { sign: () => Promise.reject(new Error('signs nothing')) },
    clock: systemClock,
  }).open()
  return async (key) => {
    const found = await store.get(key)
    return found && Buffer.from(await new Response(found.body).arrayBuffer())
  }
}

/** A key is as it should be when its file has it. */
const filesIn: Read = async (dir) => async (name) => {
  const [, file, key] = /^key:(.*):(.*)$/.exec(name) ?? []
  const found = await readFile(join(dir, file ?? name)).catch(ifMissing(undefined))
  return key !== undefined && found?.toString() === `${key}\n` ? contentOf(name, '1') : found
}

/** A backup is as it should be when all of its parts are. */
const backupsIn: Read = async (dir) => {
  const place = await FolderPlace.open(dir, 'read').catch(() => undefined)
  return async (id) => {
    const manifest = await place?.read(`manifests/${id}.json`)
    if (place === undefined || manifest === undefined) return undefined
    const parts = JSON.parse(manifest.toString()) as readonly string[]
    for (const sha256 of parts) await readChunk(place, { sha256, form: 'plain' })
    return contentOf(id, '1')
  }
}

describe.skipIf(missing)(`a power cut${missing ? ` (${missing})` : ''}`, () => {
  test.each([
    ['on Bun', 'bun', []],
    ['on Node', 'node', []],
    ['on a system without O_DSYNC', 'node', ['darwin']],
  ] as const)('takes no object that was acknowledged, %s', async (_where, runtime, args) => {
    const files = await trace(runtime, 'objects', { args })
    const history = new History(files)
    expect(history.size).toBe(30)
    expect(await lost(files, history, objectsIn)).toEqual([])
  })

  test.each([
    ['a second name', []],
    ['a copy', ['link,linkat:error=EPERM']],
  ])('takes nothing that is kept for a backup, as %s', async (_form, injected) => {
    const files = await trace('node', 'copies', { injected })
    const history = new History(files)
    expect(history.size).toBe(1)
    expect(await lost(files, history, objectsIn)).toEqual([])
  })

  test.each([
    ['file of the data folder, and no archive', 'files', filesIn, 7],
    ['part of a complete backup', 'backups', backupsIn, 2],
  ] as const)('takes no %s', async (_what, program, read, things) => {
    for (const runtime of ['bun', 'node'] as const) {
      const files = await trace(runtime, program)
      const history = new History(files)
      expect(history.size).toBe(things)
      expect(await lost(files, history, read)).toEqual([])
    }
  })
})
