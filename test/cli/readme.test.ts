import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { mailSettings, makeMailboxes } from '#test/inbound-mail.ts'
import { storeMail } from '#test/mail-rows.ts'
import { type Stack, startStack } from '#test/stack.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '..', '..')
const SWAKS = spawnSync('swaks', ['--version']).status === 0
const CROFT = join(ROOT, 'bin/croft.js')

const resources = new AsyncDisposableStack()
let stack: Stack
let smtpPort: number
let folder: string
beforeAll(async () => {
  stack = resources.use(await startStack({ sites: ['one.test'], config: { mail: mailSettings() } }))
  smtpPort = await stack.context.smtp.start()
  resources.defer(() => stack.context.smtp.drain(1000))
  folder = await mkdtemp(join(tmpdir(), 'croft-readme-'))
  resources.defer(() => rm(folder, { recursive: true }))
})
afterAll(() => resources.disposeAsync())

/** The README's shell commands that begin with these words, as they stand. */
async function commands(begin: string): Promise<string> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block)
  const found = blocks.find((block) => block.startsWith(begin))
  if (found === undefined) throw new Error(`The README has no commands that begin "${begin}"`)
  return found
}

/** `npx croft` is this checkout's, and the service is ours. */
async function shell(script: string): Promise<string> {
  const npx = `npx() { shift; node ${JSON.stringify(CROFT)} "$@"; }\n`
  const { stdout } = await run(
    'bash',
    [
      '-euc',
      npx + script.replaceAll(':8080', `:${stack.port}`).replaceAll(':2525', `:${smtpPort}`),
    ],
    {
      cwd: folder,
      env: {
        ...process.env,
        CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
        CROFT_OPERATOR_KEY: stack.operatorKey,
      },
    },
  )
  return stdout
}

test('The README’s site from nothing is deployed and answers as it says', async () => {
  await shell(await commands('mkdir -p my-site'))
  const deploying = await commands('npx croft site create blog.test')
  const answer = (await shell(deploying)).trim().split('\n').at(-1)
  expect(`# ${answer}`).toBe(deploying.trim().split('\n').at(-1))
})

test.skipIf(!SWAKS)('The README’s first mail is sent and read as it says', async () => {
  await stack.createSite({ domain: 'localhost', superAdmins: ['admin@localhost'] })
  const address = 'hello@localhost'
  const site = await stack.context.sites.find('localhost')
  const body = { address, owners: ['admin@localhost'] }
  await stack.context.mailboxes.create(site, { actor: 'operator' }, body)
  const reading = await commands('swaks --server 127.0.0.1')
  const out = await shell(reading)
  expect(out).toMatch(/^from +ann@localhost\nto +hello@localhost\nsubject +Hello\n/m)
  expect(out).toContain('\n\nIt works\n')
  const answer = out.trim().split('\n').at(-1) ?? ''
  const [, promised = ''] = /^# (.*), …$/m.exec(reading) ?? []
  expect(answer.replace(/msg_\w+/, 'msg_…').startsWith(promised)).toBe(true)
  expect(promised).toContain('"subject":"Hello"')
})

test('The README’s mail is listed, searched, read, deleted and restored as it says', async () => {
  await stack.createSite({ domain: 'shop.test', superAdmins: ['ann@shop.test'] })
  await makeMailboxes(stack, 'shop.test', ['info'])
  const text = 'The invoice, its due date, and how to pay'
  const { raw, messageId } = await storeMail(stack, { mailbox: 'info@shop.test', text })
  const shown = await shell(await commands('npx croft mail list'))
  expect(shown).toMatch(new RegExp(`^\\S+ +${messageId} +INBOX +new[^]*${text}`))
  expect(await readFile(join(folder, 'newest.eml'), 'utf8')).toBe(raw)
  const api = await shell(await commands('mail() {'))
  const answers = api.split(/(?<=\})(?=\{)/).map((each) => JSON.parse(each))
  const item = { id: messageId, folder: 'INBOX' }
  expect(answers).toMatchObject([
    { items: [item] },
    { items: [item] },
    { ...item, text },
    { id: messageId, seen: true },
    { ...item, deleted: false },
  ])
})
