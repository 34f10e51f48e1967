import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'

import { transform } from 'esbuild'

import { type Child, startChild } from '#bench/child-process.ts'
import { httpCall } from '#bench/http-call.ts'
import { readJobSource } from '#bench/job-calls.ts'
import { waitUntil } from '#bench/wait-until.ts'

import { openSharedSocket } from './shared-socket.ts'
import { WORKER_MODULES } from './workerd-config.ts'

const SOCKET_DESCRIPTOR = 3

export interface WorkerdProcess extends AsyncDisposable {
  readonly origin: string
  readonly pid: number
  /** Of the processes that share its socket. */
  readonly alsoPids: readonly number[]
}

/** Cloudflare's runtime with its defaults: one process, one thread. */
export async function startWorkerd(config: string): Promise<WorkerdProcess> {
  const folder = await workerdFolder(config)
  const child = startChild(binaryPath(), ['serve', 'config.capnp', '--control-fd=1'], {
    cwd: folder,
  })
  const port = await child.line((line) => /"event":"listen".*"port":(\d+)/.exec(line)?.[1])
  return processOf(`http://127.0.0.1:${port}`, [child], folder)
}

/**
 * As workerd's README advises where one core is not enough, and for production: a process per core, each with the socket
 * that the parent opened, so that the system spreads the connections over them.
 */
export async function startWorkerdPerCore(config: string): Promise<WorkerdProcess> {
  const folder = await workerdFolder(config)
  const { port, children } = await startOnSharedSocket(folder)
  const origin = `http://127.0.0.1:${port}`
  await waitUntil('answer of workerd', () => answers(origin))
  return processOf(origin, children, folder)
}

/** Closes the socket here before any client connects: one of the children has to accept the connection. */
async function startOnSharedSocket(folder: string) {
  await using socket = await openSharedSocket()
  const args = ['serve', 'config.capnp', '--socket-fd', `http=${SOCKET_DESCRIPTOR}`]
  const children = Array.from({ length: availableParallelism() }, () =>
    startChild(binaryPath(), args, { cwd: folder, descriptors: [socket.descriptor] }),
  )
  return { port: socket.port, children }
}

/** The version that is installed for the benchmarks. */
export const workerdVersion = (): string => {
  const manifest: { readonly version: string } = installed('workerd/package.json')
  return manifest.version
}

async function workerdFolder(config: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-workerd-'))
  const job = await transform(await readJobSource(), { loader: 'ts' })
  const files = { ...WORKER_MODULES, 'json-job.js': job.code, 'config.capnp': config }
  await Promise.all(
    Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)),
  )
  return folder
}

function processOf(origin: string, children: readonly Child[], folder: string): WorkerdProcess {
  const [pid = 0, ...alsoPids] = children.map((child) => child.pid)
  return {
    origin,
    pid,
    alsoPids,
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => child[Symbol.asyncDispose]()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** While the processes start, connections wait in the queue of the socket. */
async function answers(origin: string): Promise<boolean> {
  const body = { payload: { name: 'Ada', n: 1 } }
  const call = { origin, host: 'bench.test', method: 'POST', path: '/data/job', body } as const
  return (await httpCall(call)).status === 200
}

function binaryPath(): string {
  const workerd: { readonly default: string } = installed('workerd')
  return workerd.default
}

function installed<Module>(name: string): Module {
  const require = createRequire(new URL('../packages/package.json', import.meta.url))
  const module: Module = require(name)
  return module
}
