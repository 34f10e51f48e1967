import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface GitRun {
  readonly code: number | null
  readonly out: string
  /** What git said, with the lines that begin `remote:`. */
  readonly err: string
}

/** Nothing of this machine's git configuration, and no question at a terminal. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  GIT_AUTHOR_NAME: 'ann',
  GIT_AUTHOR_EMAIL: 'ann@one.test',
  GIT_COMMITTER_NAME: 'ann',
  GIT_COMMITTER_EMAIL: 'ann@one.test',
}

/** The real git, with site domains that lead to this machine. */
export class GitClient implements AsyncDisposable {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async start(): Promise<GitClient> {
    return new GitClient(await mkdtemp(join(tmpdir(), 'croft-git-')))
  }

  run(...args: readonly string[]): Promise<GitRun> {
    const { promise, resolve, reject } = Promise.withResolvers<GitRun>()
    const child = spawn('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd: this.folder,
      env: ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
    return promise
  }

  async ok(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await this.run(...args)
    if (code !== 0) throw new Error(`git ${args.join(' ')}: ${err}`)
    return out.trim()
  }

  /** A working copy that pushes to a site's repository. */
  async workingCopy(name: string, remote: string): Promise<WorkingCopy> {
    await this.ok('init', '--quiet', '--initial-branch=main', name)
    const copy = new WorkingCopy(this, join(this.folder, name))
    await copy.ok('remote', 'add', 'croft', remote)
    return copy
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

type Files = Readonly<Record<string, string | Uint8Array>>

export class WorkingCopy {
  readonly path: string
  readonly #git: GitClient

  constructor(git: GitClient, path: string) {
    this.#git = git
    this.path = path
  }

  run(...args: readonly string[]): Promise<GitRun> {
    return this.#git.run('-C', this.path, ...args)
  }

  ok(...args: readonly string[]): Promise<string> {
    return this.#git.ok('-C', this.path, ...args)
  }

  /** Returns the commit. */
  async commit(files: Files, message = 'change'): Promise<string> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.path, path)), { recursive: true })
      await writeFile(join(this.path, path), text)
    }
    await this.ok('add', '-A')
    await this.ok('commit', '--quiet', '--allow-empty', '-m', message)
    return this.head()
  }

  push(...args: readonly string[]): Promise<GitRun> {
    return this.run('push', 'croft', ...args)
  }

  head(): Promise<string> {
    return this.ok('rev-parse', 'HEAD')
  }
}

/** A site whose one function gives this answer. */
export const siteFiles = (answer: string): Record<string, string> => ({
  'build.yml': 'ARTIFACT_DIR: dist\n',
  'src/private.ts': 'not published',
  'dist/f.js': `export default () => ${JSON.stringify(answer)}`,
  'dist/croft.json': JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'f', config: { artifact: 'f.js' } }],
    operations: [{ operation: 'f', lambdaResource: 'f', auth: { mode: 'public' } }],
  }),
})
