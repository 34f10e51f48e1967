import { execFile, spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'

import { CroftProcess } from '#test/croft-process.ts'

const UNITS = join(import.meta.dirname, '../../deploy/systemd')
const DAEMON = { uid: 1, gid: 1 }
const AS_ROOT = process.getuid?.() === 0 && process.platform === 'linux'
const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

const run = (
  file: string,
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly uid?: number; readonly gid?: number },
): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH, ...options.env }
    execFile(file, [...args], { cwd: '/', ...options, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err }),
    )
  })

let cleanUp: AsyncDisposableStack
let folder: string
let root: string
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack()
  root = inject('builtProgram')
  folder = await mkdtemp(join(tmpdir(), 'croft-systemd-'))
  await chmod(folder, 0o711)
  cleanUp.defer(() => rm(folder, { recursive: true, force: true }))
})
afterAll(() => cleanUp.disposeAsync())

/** The wrapper, with its two constants led to that unit and program. */
async function installWrapper(name: string, unit: string, program: string): Promise<string> {
  const source = await readFile(join(UNITS, 'croft'), 'utf8')
  const file = join(folder, name)
  await writeFile(file, lead(lead(source, 'UNIT', unit), 'PROGRAM', program), { mode: 0o755 })
  return file
}

function lead(source: string, constant: string, path: string): string {
  const line = new RegExp(`^${constant}=.*$`, 'm')
  expect(source).toMatch(line)
  return source.replace(line, () => `${constant}=${path}`)
}

const ANALYZES = spawnSync('systemd-analyze', ['--version']).status === 0

test.runIf(ANALYZES).each(['croft.service', 'croft-backup.service', 'croft-backup.timer'])(
  '%s is a unit that systemd reads without a warning',
  async (name) => {
    const { code, out, err } = await run('systemd-analyze', ['verify', join(UNITS, name)], {})
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: '' })
  },
)

describe('the wrapper', () => {
  const FILE = String.raw`# a comment \
STILL_A_COMMENT=1
; another
PLAIN=smtps://user:p$w"d'@host?a=b&c=d#e
  SPACED =  two  words  ${''}
DOUBLE="a \"b\" \$HOME \q $(id) ${'`id`'}"
SINGLE='it is $HOME \ "x"'
JOINED='one '"two"
CONTINUED=one\
two
ESCAPED=a\ b\\c\ ${''}
LINES="first
second"
not a variable
BAD-NAME=1
EMPTY=
OVERRIDDEN=file
LAST=without a newline; echo no`

  const UNIT = String.raw`[Service]
Environment=OVERRIDDEN=unit ONE=1 "TWO=2 words" 'THREE=$HOME'
Environment=FOUR=4
`
  const SHOW = `process.stdout.write(JSON.stringify({ args: process.argv.slice(2), env: process.env, uid: process.getuid(), groups: process.getgroups() }))`

  async function shown(
    name: string,
    { head = '', args = [], env = {}, as = {}, mode = 0o644 }: Partial<Shown> = {},
  ) {
    const unit = join(folder, `${name}.service`)
    const file = join(folder, `${name}.env`)
    await writeFile(file, FILE, { mode })
    await writeFile(
      unit,
      `${UNIT}${head}EnvironmentFile=${file}\nEnvironmentFile=-${folder}/missing.env\n`,
    )
    const program = join(folder, `${name}.cjs`)
    await writeFile(program, SHOW)
    const wrapper = await installWrapper(name, unit, program)
    const { out, err } = await run(wrapper, args, { env, ...as })
    return { ...JSON.parse(out), err, wrapper, unit }
  }
  interface Shown {
    readonly head: string
    readonly args: readonly string[]
    readonly env: Record<string, string>
    readonly as: { readonly uid?: number; readonly gid?: number }
    readonly mode: number
  }

  test('reads values as systemd does, and evaluates none', async () => {
    const { env, err } = await shown('values')
    expect(err).toBe('')
    expect(env).toMatchObject({
      PLAIN: `smtps://user:p$w"d'@host?a=b&c=d#e`,
      SPACED: 'two  words',
      DOUBLE: 'a "b" $HOME \\q $(id) `id`',
      SINGLE: 'it is $HOME \\ "x"',
      JOINED: 'one two',
      CONTINUED: 'onetwo',
      ESCAPED: 'a b\\c ',
      LINES: 'first\nsecond',
      EMPTY: '',
      OVERRIDDEN: 'file',
      LAST: 'without a newline; echo no',
      ONE: '1',
      TWO: '2 words',
      THREE: '$HOME',
      FOUR: '4',
    })
    expect(env).not.toHaveProperty('STILL_A_COMMENT')
  })

  test('passes arguments through exactly', async () => {
    const args = [
      '',
      'a b',
      '--x=$HOME',
      '"quoted"',
      "it's",
      '$(id)',
      '*',
      'two\nlines',
      '--',
      '\\',
    ]
    expect((await shown('arguments', { args })).args).toEqual(args)
  })

  test('lets what the caller sets win, and a drop-in over the unit', async () => {
    const { wrapper, unit } = await shown('drop')
    await mkdir(`${unit}.d`)
    await writeFile(join(`${unit}.d`, 'override.conf'), '[Service]\nEnvironment=ONE=dropped\n')
    const { out } = await run(wrapper, [], { env: { TWO: 'mine', OVERRIDDEN: '' } })
    expect(JSON.parse(out).env).toMatchObject({ ONE: 'dropped', TWO: 'mine', OVERRIDDEN: '' })
  })

  test.runIf(AS_ROOT)("becomes the unit's user when root calls", async () => {
    const { uid, env, groups } = await shown('user', { head: 'User=daemon\n', mode: 0o600 })
    expect(uid).toBe(DAEMON.uid)
    expect(groups).not.toContain(0)
    expect(env.PLAIN).toContain('smtps://')
    expect(env.HOME).not.toBe('/root')
  })

  test.runIf(AS_ROOT)('as that user reads what it may, and says what it may not', async () => {
    const options = { head: 'User=daemon\n', as: DAEMON, mode: 0o600 }
    const { env, err, uid } = await shown('unreadable', options)
    expect({ uid, one: env.ONE, plain: env.PLAIN }).toEqual({ uid: 1, one: '1', plain: undefined })
    expect(err).toMatch(/^croft: ".*unreadable\.env" cannot be read, .* run this as root\n$/)
  })
})

describe.runIf(AS_ROOT)('the backup unit, beside a service of another user', () => {
  let wrapper: string
  let environment: Record<string, string>
  let commands: readonly (readonly string[])[]

  beforeAll(async () => {
    const data = join(folder, 'data')
    const backups = join(folder, 'the backups')
    for (const path of [data, backups]) {
      await mkdir(path, { mode: 0o700 })
      await chown(path, DAEMON.uid, DAEMON.gid)
    }
    const env = { CROFT_BASE_URL: 'https://shop.example', CROFT_TRUSTED_PROXIES: '127.0.0.1' }
    const croft = await CroftProcess.start({ dataDir: data, uid: DAEMON.uid, env })
    cleanUp.use(croft)
    await croft.printed('croft site verify')
    const file = join(folder, 'croft.env')
    const settings = { ...env, NIGHTLY_BACKUP_TO: `"${backups}"` }
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
    await writeFile(file, lines.join(''), { mode: 0o600 })
    const unitOf = async (name: string) =>
      (await readFile(join(UNITS, name), 'utf8'))
        .replaceAll('/var/lib/croft', data)
        .replaceAll('/etc/croft/croft.env', file)
        .replaceAll('/opt/croft', root)
        .replace('User=croft', 'User=daemon')
    const unit = join(folder, 'croft.service')
    await writeFile(unit, await unitOf('croft.service'))
    wrapper = await installWrapper('croft', unit, join(root, 'bin/croft.js'))
    const backup = await unitOf('croft-backup.service')
    const own = [...backup.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ])
    environment = { ...Object.fromEntries(own), ...settings, NIGHTLY_BACKUP_TO: backups }
    commands = [...backup.matchAll(/^ExecStart=(.*)$/gm)].map(([, line = '']) =>
      line
        .split(' ')
        .map((word) => word.replace(/^\$\{(\w+)\}$/, (_, name: string) => environment[name] ?? '')),
    )
  })

  test('makes a backup, and prunes', async () => {
    expect(commands).toHaveLength(2)
    for (const [file = '', ...args] of commands) {
      const ran = await run(file, args, { env: environment, ...DAEMON })
      expect(ran, ran.err).toMatchObject({ code: 0 })
    }
    const made = await readdir(join(environment['NIGHTLY_BACKUP_TO'] ?? '', 'manifests'))
    expect(made).toHaveLength(1)
  })

  test('makes one whose place root reads by the wrapper', async () => {
    const place = environment['NIGHTLY_BACKUP_TO'] ?? ''
    const { code, out, err } = await run(wrapper, ['backup', 'verify', '--from', place], {})
    expect(code, err).toBe(0)
    expect(out).toContain('is whole, and signed with the master key.')
  })

  test('has a site that is verified before its name resolves and TLS exists', async () => {
    const { code, out, err } = await run(wrapper, ['site', 'verify', 'shop.example'], {})
    expect(code, out + err).toBe(0)
    expect(out).toMatch(/^Requests for shop\.example go to http:\/\/127\.0\.0\.1:\d+\.\n/)
    const elsewhere = ['site', 'list', '--url', 'http://127.0.0.1:1']
    expect((await run(wrapper, elsewhere, {})).err).toContain('http://127.0.0.1:1')
  })
})
