import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { TestProject } from 'vitest/node'

import { newKeyPair } from '#identity/keys/key-pair.ts'
import { migrateDatabase } from '#platform/migrate-database.ts'
import { createClient } from '#platform/postgres/client.ts'
import { startEmbeddedPostgres } from '#platform/postgres/embedded/embedded-postgres.ts'
import { buildDist } from '#scripts/build-dist.ts'

import type { SerialKeyPair } from './key-pairs.ts'
import { silentLog } from './silent-log.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The superuser's URL of the server that this run tests on. */
    postgresUrl: string
    /** A migrated database without connections: clone it. */
    templateDatabase: string
    /** What makes a clone of it with the least work. */
    cloneStrategy: CloneStrategy
    /** To sign with, made once for the run: a pair takes longer to make than the rest of a site. */
    keyPairs: readonly SerialKeyPair[]
    /** The folder of a build of the program: it starts with half the work that its sources take. */
    builtProgram: string
    /** Where the stacks of a run keep the prelude's snapshot, which is the same for all. */
    snapshotFolder: string
  }
}

const ROOT = join(import.meta.dirname, '../..')
/** Enough for the pools of four sites. */
const KEY_PAIRS = 8

/** Linux's folder in memory. */
const MEMORY = '/dev/shm'
const GIB = 2 ** 30
/** What the files of a run take at most, and what must be left for its processes. */
const NEEDED = { folder: 2 * GIB, machine: 6 * GIB }

/** Nothing here has to survive a power cut. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
}

export type CloneStrategy = 'file_copy' | 'wal_log'

interface Server extends AsyncDisposable {
  readonly url: string
  readonly cloneStrategy: CloneStrategy
}

/** One real Postgres for the run, with one migrated template, which every test file clones; and one build of the program. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const place = await openRunFolder()
  const keyPairs = Promise.all(Array.from({ length: KEY_PAIRS }, serialKeyPair))
  const program = buildProgram()
  const server = await startServer(process.env['TEST_POSTGRES_URL'], place)
  const admin = createClient({ url: server.url, max: 1 })
  const templateDatabase = `croft_template_${process.pid}`
  await admin`create database ${admin(templateDatabase)}`

  const url = new URL(server.url)
  url.pathname = templateDatabase
  await migrateDatabase({ url: url.href, log: silentLog })

  project.provide('postgresUrl', server.url)
  project.provide('templateDatabase', templateDatabase)
  project.provide('cloneStrategy', server.cloneStrategy)
  project.provide('keyPairs', await keyPairs)
  const folder = await program
  project.provide('builtProgram', join(folder, 'croft'))
  project.provide('snapshotFolder', join(folder, 'snapshots'))
  return async () => {
    await admin`drop database if exists ${admin(templateDatabase)} with (force)`
    await admin.end({ timeout: 5 })
    await server[Symbol.asyncDispose]()
    await place[Symbol.asyncDispose]()
  }
}

interface RunFolder extends AsyncDisposable {
  readonly folder: string
  readonly isMemory: boolean
}

/**
 * Where all files of a run are, the temporary ones of its tests too: in memory if it may. Every new cluster is a thousand
 * files, which on a disk cost as much again, and waiting.
 */
async function openRunFolder(): Promise<RunFolder> {
  const isMemory = await hasRoomInMemory()
  const folder = await mkdtemp(join(isMemory ? MEMORY : tmpdir(), 'croft-tests-'))
  // Accounts other than ours find the same as in the system's folder.
  await chmod(folder, 0o1777)
  const endWatch = cleanUpAfterCrash(folder)
  if (await runsPrograms(folder)) process.env['TMPDIR'] = folder
  return {
    folder,
    isMemory,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
      endWatch()
    },
  }
}

/** Containers often forbid it where the memory is. */
async function runsPrograms(folder: string): Promise<boolean> {
  const program = join(folder, 'program')
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 })
  const { status } = spawnSync(program)
  await rm(program)
  return status === 0
}

/** In a folder of its own, which accounts other than ours can read. */
async function buildProgram(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-test-program-'))
  await chmod(folder, 0o755)
  await buildDist(ROOT, join(folder, 'croft'))
  for (const name of ['node_modules', 'peers']) {
    await symlink(join(ROOT, name), join(folder, 'croft', name), 'dir')
  }
  return folder
}

async function serialKeyPair(): Promise<SerialKeyPair> {
  const { privateKey, ...pair } = await newKeyPair()
  return { ...pair, privateKey: privateKey.toString('base64') }
}

async function startServer(given: string | undefined, place: RunFolder): Promise<Server> {
  if (given !== undefined) {
    return { url: given, cloneStrategy: 'wal_log', [Symbol.asyncDispose]: async () => {} }
  }
  const dataDir = await mkdtemp(join(place.folder, 'postgres-'))
  await chmod(dataDir, 0o711)
  try {
    const server = await startEmbeddedPostgres({ dataDir, log: silentLog, settings: SETTINGS })
    return {
      url: server.url,
      cloneStrategy: place.isMemory ? 'file_copy' : 'wal_log',
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  } catch (cause) {
    await place[Symbol.asyncDispose]()
    throw new Error(
      'The tests need a real Postgres: run "npm ci" with optional dependencies, or set TEST_POSTGRES_URL to a superuser\'s URL, ' +
        'as in TEST_POSTGRES_URL=postgres://postgres:secret@127.0.0.1:5432/postgres',
      { cause },
    )
  }
}

/** A database is hundreds of files, made and deleted with each stack. */
async function hasRoomInMemory(): Promise<boolean> {
  const folder = await statfs(MEMORY).catch(() => undefined)
  if (folder === undefined || process.availableMemory() < NEEDED.machine) return false
  return folder.bavail * folder.bsize >= NEEDED.folder
}

/** A small process that waits for this one to end, however it ends: its standard input closes then. */
function cleanUpAfterCrash(folder: string): () => void {
  const script =
    'cat >/dev/null; for file in "$1"/postgres-*/postgres/cluster/postmaster.pid; do ' +
    'kill -INT "$(head -n 1 "$file")"; done 2>/dev/null; sleep 1; rm -rf -- "$1"'
  const watcher = spawn('/bin/sh', ['-c', script, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  return () => {
    watcher.kill('SIGKILL')
  }
}
