import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, glob, mkdir, mkdtemp, readFile, readdir, symlink, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { chromiumMissing, launchChromium, openTab } from '#test/browser.ts'
import { CroftProcess, freePort } from '#test/croft-process.ts'
import { DnsServer } from '#test/dns-server.ts'
import { ShellSession } from '#test/shell-session.ts'
import { openFolder } from '#test/temporary-folder.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..', '..')
/** What git leaves out of a clone. */
const NOT_CLONED = new Set([
  '.git',
  '.croft',
  'node_modules',
  'dist',
  'coverage',
  'my-shop',
  'my-site',
])
const AUTHOR = ['-c', 'user.name=Ann', '-c', 'user.email=ann@blog.test']
const OXLINT = join(ROOT, 'node_modules/.bin/oxlint')
/** `npm run tools` installs it. In CI its absence is an error. */
const missingTools = !existsSync(OXLINT) && !process.env['CI']
const HAS_SWAKS = spawnSync('swaks', ['--version']).status === 0
/** A response, as a comment below its command. */
const SHOWN = /^# ((?:\{|<|remote: ).*)$/gm
/** Separates the outputs of two commands. */
const BREAK = '\u001D'

/**
 * `npx croft` is the copy's, and nothing is installed: `node_modules` is this checkout's. A response with an error fails, except
 * for one that asks for a moment's patience; a stream without an end is read for a second. Git prints to stderr.
 */
const PRELUDE = `
npm() { return 1; }
npx() {
  [ "$1" = croft ] || return 1
  for try in {1..20}; do
    node bin/croft.js "\${@:2}" && return
    [ "$2 $3" = 'mail reply' ] || return 1
  done
  return 1
}
git() { command git ${AUTHOR.join(' ')} "$@" 2>&1; }
curl() {
  case " $* " in
    *' -N '*) command curl --no-progress-meter --fail-with-body --max-time 1 "$@" || [ $? = 28 ]; return ;;
  esac
  local answer status
  for try in {1..100}; do
    status=0
    answer=$(command curl --no-progress-meter --fail-with-body "$@") || status=$?
    case $answer in *DataRuntimeProvisioning*) continue ;; esac
    break
  done
  printf '%s\\n' "$answer"
  return $status
}
`

interface Block {
  readonly script: string
  /** Why it does not run here, as the comment before it says, or that in the first line of the page. */
  readonly notRun: string | undefined
}

interface Page {
  readonly path: string
  readonly blocks: readonly Block[]
}

/** Pages whose blocks run, each in a shell of its own, in the order in which they build on each other. */
const RUN_PAGES = [
  'README.md',
  'docs/tutorials/first-site.md',
  'docs/how-to/deploy-a-site.md',
  'docs/how-to/store-data.md',
  'docs/how-to/sign-in-for-an-app.md',
  'docs/how-to/manage-people.md',
  'docs/how-to/mail-and-dns.md',
  'docs/how-to/mailboxes.md',
  'docs/how-to/on-call.md',
  'docs/reference/http-api.md',
  'docs/reference/limits.md',
]
const LANGUAGES = new Set(['caddyfile', 'cron', 'js', 'json', 'sh', 'text', 'ts', 'yaml'])
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

function pageOf(path: string): Page {
  const text = textOf(path)
  const [, whole] = /^<!-- blocks not run: (.+) -->\n/.exec(text) ?? []
  const blocks = [...text.matchAll(/(?:^<!-- not run: (.+) -->\n\n)?^```sh\n([^]*?)^```$/gm)].map(
    ([, notRun, script = '']) => ({ script, notRun: whole ?? notRun }),
  )
  return { path, blocks }
}

const PAGES = RUN_PAGES.map(pageOf)
const START = PAGES[0]?.blocks[0]?.script ?? ''

const resources = new AsyncDisposableStack()
const ports = new Map<string, number>()
let openShell: () => Promise<ShellSession>
let copy: string
beforeAll(async () => {
  const folder = await openFolder(resources, 'croft-readme-')
  copy = join(folder, 'croft')
  await clone(copy)
  const dns = resources.use(await DnsServer.start(() => undefined))
  for (const port of ['8080', '2525']) ports.set(port, await freePort())
  const croft = resources.use(
    await CroftProcess.start({
      root: copy,
      command: START.trim().split('\n').at(-1)?.split(' ') ?? [],
      dataDir: join(copy, '.croft'),
      port: ports.get('8080') ?? 0,
      env: {
        SMTP_PORT: String(ports.get('2525')),
        CROFT_DNS_SERVERS: dns.address,
        // As on a terminal.
        CROFT_LOG_FORMAT: 'text',
      },
    }),
  )
  await croft.printed('npx croft mail show')
  const compiled = join(folder, 'compiled')
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, NODE_COMPILE_CACHE: compiled }
  openShell = async () => {
    const scripts = await mkdtemp(join(folder, 'scripts-'))
    const shell = resources.use(new ShellSession({ cwd: copy, scripts, env }))
    await shell.run(PRELUDE)
    return shell
  }
})
afterAll(() => resources.disposeAsync())

/** What a block prints besides the answers that it shows, by its first words. */
const PRINTED: Readonly<Record<string, (printed: string) => void | Promise<void>>> = {
  'npx croft site create shop.test': (printed) =>
    expect(printed).toContain('shop.test is ready.\n'),
  'npx croft site deployments blog.test': (printed) => {
    expect(printed).toMatch(/^\* +dep_\w+ /m)
    expect(printed).toMatch(/^\{"id":"1","text":"hi"/m)
  },
  'npx croft users shop.test': (printed) =>
    expect(printed).toContain('ann@blog.test has no authenticator app'),
  'swaks --server 127.0.0.1': (printed) => {
    expect(printed).toMatch(/^from +ann@localhost\nto +hello@localhost\nsubject +Hello\n/m)
    expect(printed).toContain('\n\nIt works\n')
  },
  'npx croft mail list': async (printed) => {
    expect(printed).toMatch(/^\S+ +msg_\w+ +INBOX +new[^]*Its due date is Monday/)
    const [, size] = /^size +(\d+) bytes$/m.exec(printed) ?? []
    const raw = await readFile(join(copy, 'my-shop/newest.eml'), 'utf8')
    expect(raw).toMatch(/^Subject: Your invoice\r\n[^]*\r\n\r\nIts due date is Monday/m)
    expect(Buffer.byteLength(raw)).toBe(Number(size))
  },
  'mail() {': (printed) => {
    const lines = printed.split('\n').filter((line) => line.startsWith('{'))
    const answers = lines.map((line) => JSON.parse(line))
    const id = answers[0].items[0].id
    const item = { id, folder: 'INBOX' }
    const text = expect.stringContaining('Its due date is Monday')
    expect(answers).toMatchObject([
      { items: [item] },
      { items: [item] },
      { ...item, text },
      { id, seen: true },
      { ...item, deleted: false },
    ])
  },
  'npx croft mailbox create ann@blog.test': (printed) =>
    expect(printed.match(/^It is on its way/gm)).toHaveLength(2),
}

test('every block for a shell of README, tutorials and how-to guides runs, or says why not', async () => {
  const guides = await Array.fromAsync(glob('docs/{tutorials,how-to}/*.md', { cwd: ROOT }))
  const all = [...new Set([...RUN_PAGES, ...guides])].map(pageOf)
  const neither = all.filter(
    ({ path, blocks }) =>
      !RUN_PAGES.includes(path) && blocks.some(({ notRun }) => notRun === undefined),
  )
  expect(neither.map(({ path }) => path)).toEqual([])
  for (const { path, blocks } of all) {
    const languages = [...textOf(path).matchAll(/^ *```(\w*)$/gm)].map(([, language]) => language)
    const opening = languages.filter((_, at) => at % 2 === 0)
    expect(
      opening.filter((language) => !LANGUAGES.has(language ?? '')),
      path,
    ).toEqual([])
    expect(
      opening.filter((language) => language === 'sh'),
      path,
    ).toHaveLength(blocks.length)
  }
  const notRun = PAGES[0]?.blocks.filter((block) => block.notRun !== undefined)
  expect(notRun?.map(({ script }) => script)).toEqual(['npm ci\nnpm start\n'])
  const scripts = PAGES.flatMap(({ blocks }) => blocks.map(({ script }) => script))
  const words = Object.keys(PRINTED)
  expect(words.filter((begin) => !scripts.some((script) => script.startsWith(begin)))).toEqual([])
})

describe.each(PAGES)('the blocks of $path', ({ blocks }) => {
  let shell: ShellSession
  beforeAll(async () => {
    shell = await openShell()
  })

  const firstMail = blocks.findIndex(({ script }) => /^swaks/m.test(script))
  test.for([...blocks.entries()].filter(([, { notRun }]) => notRun === undefined))(
    'block %i runs and prints what it says',
    async ([at, { script }], { skip }) => {
      skip(firstMail !== -1 && at >= firstMail && !HAS_SWAKS, 'swaks is missing')
      const outputs = (await shell.run(onOurPorts(script))).split(BREAK)
      for (const [index, response] of responsesIn(script).entries()) {
        const lines = outputs[index]?.split('\n').map((line) => line.trimEnd())
        expect(lines).toContainEqual(expect.stringMatching(response))
      }
      const words = Object.keys(PRINTED).find((begin) => script.startsWith(begin))
      if (words !== undefined) await PRINTED[words]?.(outputs.join(''))
    },
  )
})

const missing = chromiumMissing()
test.skipIf(missing)(
  `the pages that README and tutorial write show in Chromium${missing ? ` (${missing})` : ''}`,
  async () => {
    const browser = await launchChromium()
    try {
      await using tab = await openTab(browser)
      const origin = (host: string) => `http://${host}:${ports.get('8080')}/`
      await tab.page.goto(origin('shop.test'))
      expect(await tab.page.textContent('h1')).toBe('Open at nine')
      await tab.page.goto(origin('blog.test'))
      const answer = tab.page.locator('#answer', { hasText: 'There are' })
      expect(await answer.textContent()).toBe('There are 1 notes.')
      expect(tab.complaints).toEqual([])
    } finally {
      await browser.close()
    }
  },
)

test.skipIf(missingTools)(
  'git and the checks of this project ignore what the blocks create',
  async () => {
    expect((await run('git', ['status', '--porcelain'], { cwd: copy })).stdout).toBe('')
    expect(await readdir(join(copy, 'my-shop'))).toContain('site')
    expect(await readdir(join(copy, 'my-site'))).toContain('site')
    const config = join(copy, '..', 'oxlint.json')
    const rules = { 'import/no-default-export': 'error' }
    await writeFile(config, JSON.stringify({ plugins: ['import'], rules }))
    const found = String(
      spawnSync(OXLINT, ['--config', config, '--format', 'unix'], { cwd: copy }).stdout,
    )
    expect(found).toContain('vitest.config.ts')
    expect(found).not.toMatch(/my-(?:shop|site)/)
  },
)

/** The block for this service, with a break in its output where it shows a response. */
const onOurPorts = (script: string): string =>
  script
    .replaceAll(/:(8080|2525)\b/g, (_, port: string) => `:${ports.get(port)}`)
    .replaceAll(SHOWN, `printf '${BREAK}'`)

/** The responses that a block shows; `…` is anything, and what follows a dash explains. */
const responsesIn = (script: string): RegExp[] =>
  [...script.matchAll(SHOWN)].map(([, shown = '']) => {
    const parts = shown.replace(/ +– .*$/, '').split('…')
    return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`)
  })

/** A copy of what git would clone, with the packages of this checkout. */
async function clone(to: string): Promise<void> {
  await mkdir(to)
  for (const name of await readdir(ROOT)) {
    if (NOT_CLONED.has(name)) continue
    const filter = (path: string) => basename(path) !== 'node_modules'
    await cp(join(ROOT, name), join(to, name), { recursive: true, filter })
  }
  await symlink(join(ROOT, 'node_modules'), join(to, 'node_modules'))
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', 'All'],
  ]) {
    await run('git', [...AUTHOR, ...args], { cwd: to })
  }
}
