import { spawn } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError } from '#base/app-error.ts'
import { hasCode } from '#base/error-code.ts'

import { killGroup } from './kill-group.ts'

const SIZE_POLL_MS = 250
const ERROR_CHARACTERS = 500
/** Nothing of the machine's or the repository's own configuration may run a program or ask a question. */
const SETTINGS = [
  'protocol.ext.allow=never',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.symlinks=false',
  'credential.helper=',
  'submodule.recurse=false',
  'filter.lfs.smudge=',
  'filter.lfs.required=false',
  'http.followRedirects=initial',
].flatMap((setting) => ['-c', setting])

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const SCHEMES = ['https:', 'ssh:', 'git:']
/** `user@host:path`, as ssh writes it. */
const SCP_LIKE = /^[\w.-]{1,64}@[\w.-]{1,253}:(?!-)[^\s]{1,1000}$/

export interface FetchRequest {
  /** `https://`, `ssh://`, `git://` or `user@host:path`; `file://` only where `allowFileUrls` says so. */
  readonly url: string
  /** Or a tag, or the whole id of a commit. */
  readonly branch: string
  /** An empty folder; the branch's files are there afterwards. */
  readonly intoDir: string
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** What the clone may take on disk, with its history. */
  readonly maxBytes: number
  readonly allowFileUrls?: boolean
}

export interface FetchedRepository {
  readonly commit: string
  /** Paths of what is a symbolic link in the repository; in the folder it is a plain file that holds the target. */
  readonly symbolicLinks: readonly string[]
}

/** The commit that a branch or tag names, or the one that is named, without history, by the system's git. Throws `RefNotFound`, or `SourceUnavailable` with what git said. */
export async function fetchRepository(request: FetchRequest): Promise<FetchedRepository> {
  const url = repositoryUrl(request.url, request.allowFileUrls ?? false)
  if (!/^(?!-)[\w./+@-]{1,200}$/.test(request.branch)) {
    throw new AppError(
      'ValidationError',
      `"${request.branch}" is neither the name of a branch or tag nor the id of a commit`,
    )
  }
  const stop = new AbortController()
  const ended = AbortSignal.any([
    request.signal,
    stop.signal,
    AbortSignal.timeout(request.timeoutMs),
  ])
  const watch = watchSize(request, (reason) => stop.abort(reason))
  try {
    for (const args of fetching(request, url)) await git(args, ended, request)
    if ((await sizeOf(request.intoDir, request.maxBytes)) > request.maxBytes) {
      throw unavailable(request, tooLarge(request.maxBytes))
    }
    const commit = await git(['-C', request.intoDir, 'rev-parse', 'HEAD'], ended, request)
    const files = await git(['-C', request.intoDir, 'ls-files', '-s', '-z'], ended, request)
    return { commit: commit.trim(), symbolicLinks: linksIn(files) }
  } finally {
    clearInterval(watch)
  }
}

/** A clone takes no id of a commit. */
function fetching({ branch, intoDir }: FetchRequest, url: string): readonly string[][] {
  const shallow = ['--quiet', '--depth=1', '--no-tags']
  if (!COMMIT_ID.test(branch)) {
    return [['clone', ...shallow, '--single-branch', `--branch=${branch}`, '--', url, intoDir]]
  }
  return [
    ['init', '--quiet', '--', intoDir],
    ['-C', intoDir, 'fetch', ...shallow, '--', url, branch],
    ['-C', intoDir, 'checkout', '--quiet', '--detach', 'FETCH_HEAD', '--'],
  ]
}

/** The URL, when git may be given it: a known transport, and nothing that git would read as an option or a helper. */
function repositoryUrl(url: string, allowFileUrls: boolean): string {
  if (SCP_LIKE.test(url) && !url.includes('::')) return url
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const schemes = allowFileUrls ? [...SCHEMES, 'file:'] : SCHEMES
  const fine =
    parsed !== undefined &&
    schemes.includes(parsed.protocol) &&
    !parsed.hostname.startsWith('-') &&
    (parsed.protocol === 'file:' || parsed.hostname !== '')
  if (fine) return url
  throw new AppError(
    'SourceUnavailable',
    `The repository URL is not one that can be fetched: use https://, ssh://, git:// or user@host:path`,
  )
}

/** Entries read `mode object stage`, a tab, the path. */
const linksIn = (files: string): string[] =>
  files
    .split('\0')
    .filter((entry) => entry.startsWith('120000 '))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1))

function git(args: readonly string[], signal: AbortSignal, request: FetchRequest): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = spawn('git', [...SETTINGS, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(request.allowFileUrls ?? false),
    // Leads a group of its own: the transport is a child of git, and would outlive it on a stalled connection.
    detached: true,
  })
  const end = () => killGroup(child.pid)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  let [output, complaint] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4 * ERROR_CHARACTERS)
  })
  child.on('error', (error) => reject(startFault(error, request)))
  child.on('close', (code) => {
    signal.removeEventListener('abort', end)
    if (signal.aborted) reject(unavailable(request, endedWhy(signal, request)))
    else if (code === 0) resolve(output)
    else reject(refusal(request, withoutCredentials(complaint.trim(), request.url)))
  })
  return promise
}

/** Passes on only what git and ssh need to find programs, keys and the network: the service's secrets stay out. */
function environment(allowFileUrls: boolean): Record<string, string> {
  const passed = ['PATH', 'HOME', 'SSH_AUTH_SOCK', 'HTTPS_PROXY', 'https_proxy', 'SSL_CERT_FILE']
  // oxlint-disable-next-line node/no-process-env -- a child's environment, not configuration
  const own = process.env
  const entries = passed.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]))
  return {
    ...(Object.fromEntries(entries) as Record<string, string>),
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=accept-new',
    GIT_ALLOW_PROTOCOL: allowFileUrls ? 'https:ssh:git:file' : 'https:ssh:git',
  }
}

function watchSize({ intoDir, maxBytes }: FetchRequest, stop: (reason: Error) => void) {
  let measuring = false
  return setInterval(() => {
    if (measuring) return
    measuring = true
    void sizeOf(intoDir, maxBytes).then((bytes) => {
      measuring = false
      if (bytes > maxBytes) stop(new Error(tooLarge(maxBytes)))
    })
  }, SIZE_POLL_MS)
}

const tooLarge = (maxBytes: number): string => `it is larger than ${maxBytes} bytes`

/** Stops counting above `enough`. A folder that vanishes during the count counts nothing. */
async function sizeOf(folder: string, enough: number): Promise<number> {
  let bytes = 0
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await sizeOf(path, enough - bytes)
    else
      bytes += await stat(path).then(
        ({ size }) => size,
        () => 0,
      )
    if (bytes > enough) return bytes
  }
  return bytes
}

function startFault(error: Error, request: FetchRequest): AppError {
  if (!hasCode(error, 'ENOENT')) return unavailable(request, error.message)
  return new AppError(
    'SourceUnavailable',
    'Repositories are fetched with the program "git", which is not on the PATH: install it (apt-get install git)',
    { cause: error },
  )
}

function endedWhy({ reason }: AbortSignal, { timeoutMs }: FetchRequest): string {
  if (!(reason instanceof Error)) return 'it was cancelled'
  if (reason.name === 'TimeoutError') return `it took longer than ${timeoutMs} ms`
  return reason.name === 'AbortError' ? 'it was cancelled' : reason.message
}

/** Git has no exit code of its own for a ref that is not there. */
const NO_SUCH_REF = /remote branch .* not found|find remote ref|not our ref|no such ref/i

function refusal(request: FetchRequest, complaint: string): AppError {
  if (!NO_SUCH_REF.test(complaint)) return unavailable(request, complaint)
  const url = withoutCredentials(request.url, request.url)
  return new AppError(
    'RefNotFound',
    `"${url}" has no branch, tag or commit "${request.branch}": push it, or name one that is there`,
  )
}

const unavailable = (request: FetchRequest, why: string): AppError =>
  new AppError(
    'SourceUnavailable',
    `"${request.branch}" of "${withoutCredentials(request.url, request.url)}" cannot be fetched: ${why.slice(0, ERROR_CHARACTERS)}`,
  )

/** Git repeats URLs in its messages; a token in one must not travel on. */
function withoutCredentials(text: string, url: string): string {
  const userinfo = /^[a-z+]+:\/\/([^@/]+)@/i.exec(url)?.[1]
  return (userinfo ? text.replaceAll(`${userinfo}@`, '') : text).replaceAll(
    /(\w+:\/\/)[^@/\s]+@/g,
    '$1',
  )
}
