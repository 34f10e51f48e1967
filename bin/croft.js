#!/usr/bin/env node
// Plain JavaScript for any Node from 18 on: it only finds the right runtime and becomes it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { constants, cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const PEERS = join(ROOT, 'peers/node_modules')
const NODE_MAJOR = 24
/** The placeholder for Bun until its install script has run is a few hundred bytes long. */
const SMALLEST_BUN = 1_000_000
const GIVE_BACK_MS = 2000
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']

class UsageError extends Error {}

const RUNTIMES = {
  bun: () => ({
    file: bunFile() ?? missing('bun', `@oven/bun-${process.platform}-${process.arch}`),
    flags: ['--no-install'],
  }),
  node: () => ({
    file: nodeFile() ?? missing(`Node ${NODE_MAJOR}`, `node-${process.platform}-${process.arch}`),
    flags: [],
  }),
  deno: () => ({
    file: denoFile() ?? missing('Deno', 'deno', denoInstallation()),
    flags: ['run', '--allow-all', '--no-lock', '--node-modules-dir=manual', '--cached-only'],
  }),
}

try {
  main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`croft: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

function main(args) {
  if (args[0] !== 'serve') {
    // Compiling its modules is most of a short command's time. Node keeps nothing where it may not write.
    // oxlint-disable-next-line node/no-process-env -- for the program that takes this one's place
    process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/croft')
    return become('node', program('src/cli/main.ts', 'cli/main.js'), args)
  }
  const { runtime, rest } = chosenRuntime(args.slice(1))
  if (rest.includes('--help') || rest.includes('-h')) {
    return become('node', program('src/cli/main.ts', 'cli/main.js'), ['help', 'serve'])
  }
  become(runtime, program('src/main.ts', 'main.js'), rest)
}

/** `--on node` and `--on=node`; everything else is the service's own business. */
function chosenRuntime(args) {
  const at = args.findIndex((arg) => arg === '--on' || arg.startsWith('--on='))
  if (at === -1) return { runtime: 'bun', rest: args }
  const joined = args[at].startsWith('--on=')
  const runtime = joined ? args[at].slice('--on='.length) : args[at + 1]
  if (runtime === undefined || !Object.hasOwn(RUNTIMES, runtime)) {
    throw new UsageError(`--on takes ${Object.keys(RUNTIMES).join(', ')}, not "${runtime ?? ''}"`)
  }
  return { runtime, rest: args.filter((_, index) => index < at || index > (joined ? at : at + 1)) }
}

/** The sources, or what `npm run build` made of them. */
function program(source, built) {
  const places = [join(ROOT, source), join(ROOT, built), join(ROOT, 'dist', built)]
  const found = places.find((path) => existsSync(path))
  if (found === undefined) throw new Error(`Neither "${places.join('" nor "')}" is there`)
  return found
}

/** Replaces this process where Node can do that; else a child takes its place, signals and exit code included. */
function become(runtime, path, args) {
  const { file, flags } = RUNTIMES[runtime]()
  const argv = [...flags, path, ...args]
  // Elysia otherwise writes the whole of a body that it refuses into the error, again and again.
  // oxlint-disable-next-line node/no-process-env -- for the program that takes this one's place
  process.env.NODE_ENV ??= 'production'
  // Bun's allocator otherwise looks ten times a second for pages to give back: half of what a service at rest computes.
  // oxlint-disable-next-line node/no-process-env -- for the program that takes this one's place
  process.env.MIMALLOC_PURGE_HOLES_MIN_INTERVAL ??= String(GIVE_BACK_MS)
  if (runtime === 'bun') {
    // Two more than Bun takes: three compressions on two processors leave one for files. Eight took a quarter of the mail that arrives.
    // oxlint-disable-next-line node/no-process-env -- for the program that takes this one's place
    process.env.UV_THREADPOOL_SIZE ??= String(cpus().length + 2)
  }
  if (typeof process.execve === 'function') process.execve(file, [file, ...argv])
  // Handled from before its first output on: a parent that reads that may answer with a signal.
  for (const signal of FORWARDED) process.on(signal, () => child.kill(signal))
  // A process group of its own: a Ctrl-C reaches it once, through us, and not a second time from the terminal.
  const child = spawn(file, argv, { stdio: 'inherit', detached: process.platform !== 'win32' })
  child.on('error', (error) => {
    process.stderr.write(`croft: "${file}" does not start: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0))
  })
}

function bunFile() {
  const installed = packageFile('bun', 'bin/bun.exe') ?? packageFile('bun', 'bin/bun')
  if (installed !== undefined && statSync(installed).size > SMALLEST_BUN) return installed
  // Without install scripts the binary is still where npm put it: in the package of this platform.
  const platform = `bun-${process.platform}-${process.arch}`
  return candidates('@oven', (name) => name.startsWith(platform))
    .flatMap((folder) => [join(folder, 'bin/bun'), join(folder, 'bin/bun.exe')])
    .find((file) => existsSync(file) && runs(file))
}

function nodeFile() {
  const name = `${process.platform}-${process.arch}`
  const packaged =
    packageFile(`node-${name}`, 'bin/node') ?? packageFile(`node-bin-${name}`, 'bin/node')
  if (packaged !== undefined) return packaged
  const isNode = process.versions.bun === undefined && process.versions.deno === undefined
  const major = Number(process.versions.node.split('.')[0])
  return isNode && major >= NODE_MAJOR ? process.execPath : undefined
}

function denoFile() {
  const platform = `${process.platform}-${process.arch}`
  return candidates('@deno', (name) => name.startsWith(platform), [PEERS, ...modulesFolders()])
    .flatMap((folder) => [join(folder, 'deno'), join(folder, 'deno.exe')])
    .find((file) => existsSync(file) && runs(file))
}

/** A file of a package, looked for where Node would: in every `node_modules` from here up. */
function packageFile(name, file) {
  return modulesFolders()
    .map((folder) => join(folder, name, file))
    .find((path) => existsSync(path))
}

function candidates(scope, fits, modules = modulesFolders()) {
  return modules.flatMap((folder) => {
    const scoped = join(folder, scope)
    if (!existsSync(scoped)) return []
    return readdirSync(scoped)
      .filter(fits)
      .sort()
      .map((name) => join(scoped, name))
  })
}

function modulesFolders() {
  const folders = []
  for (let folder = ROOT; ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules'))
    if (dirname(folder) === folder) return folders
  }
}

/** Packages for another C library or processor are there, too, when the platform was forced at install. */
function runs(file) {
  return spawnSync(file, ['--version'], { stdio: 'ignore' }).status === 0
}

/** The sources have Deno among the packages that they are compared with. */
function denoInstallation() {
  return existsSync(dirname(PEERS)) ? 'Run "npm run peers".' : 'Run "npm install deno".'
}

function missing(what, name, advice = 'Run "npm ci" with optional dependencies.') {
  throw new Error(`${what} is missing: the package "${name}" is not installed. ${advice}`)
}
