import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { Value } from '@sinclair/typebox/value'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { CpuProfile } from '#runtime/profiles/cpu-profile.ts'
import { RuntimeSite } from '#test/runtime-site.ts'
import { type Stack, startStack } from '#test/stack.ts'

import { type Ran, croft } from './croft.ts'

/** Whatever a bundler moves together, and a stripper of types must leave where it is. */
const CHECK = `interface Order {
  readonly total: number
}

export function check<T extends Order>(order: T, must: (value: unknown) => void): T {
  must(order.total)
  return order
}
`
const HANDLER = `type Payload = { total: number; way: string; spin?: number }

export default async ({ payload }: { payload: Payload }) => {
  if (payload.way === 'log') console.error(new RangeError('☂ logged')); for (let i = 0; i < (payload.spin ?? 0); i += 1) must(i % 7)
  return check<Payload>(payload, must)
}
`
const BROKEN = `import { must } from 'limits'

type Limit = number
const LIMIT: Limit = 11
if (must(1) === undefined) throw new RangeError("too much: " + LIMIT)
export default () => 1
`
const PACKAGE = `
exports.must = function must(value) {
  if (value > 10) throw new TypeError('too much: ' + value)
}
`

let stack: Stack
let site: RuntimeSite
let folder: string

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), text)
}

beforeAll(async () => {
  stack = await startStack({ sites: [] })
  folder = await mkdtemp(join(tmpdir(), 'croft-positions-'))
  await stack.createSite({
    domain: 'shop.test',
    superAdmins: ['ann@shop.test'],
    sourceMode: 'SITE_GIT',
    repoBinding: { branch: 'main', artifactDirectory: 'site' },
  })
  site = await RuntimeSite.open(stack, 'shop.test')
  await write('build.yml', 'ARTIFACT_DIR: site')
  await write('node_modules/limits/package.json', '{"name":"limits","main":"./lib/index.js"}')
  await write('node_modules/limits/lib/index.js', PACKAGE)
  await write('node_modules/limits/broken.js', '// Not for here\nthrow new Error("broken")')
  await write('site/lib/check.ts', CHECK)
  await write('site/lib/must.ts', PACKAGE.replace('exports.must =', 'export'))
  await write(
    'site/functions/bundled.ts',
    `import { must } from 'limits'\nimport { check } from '../lib/check.ts'\n${HANDLER}`,
  )
  await write(
    'site/functions/plain.ts',
    `import { must } from '../lib/must.ts'\nimport { check } from '../lib/check.ts'\n${HANDLER}`,
  )
  const names = ['bundled', 'plain']
  const definition = {
    resources: names.map((name) => ({
      type: 'lambdaFunction',
      name,
      config: { artifact: `functions/${name}.ts` },
    })),
    operations: names.map((name) => ({
      operation: name,
      lambdaResource: name,
      auth: { mode: 'public' },
    })),
  }
  await write('site/croft.json', JSON.stringify(definition))
  await deploy()
})
afterAll(async () => {
  await stack[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const deployed = (): Promise<Ran> =>
  croft(['site', 'deploy', 'shop.test', '--from', folder], {
    CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
    CROFT_OPERATOR_KEY: stack.operatorKey,
  })

async function deploy(): Promise<void> {
  const { code, err } = await deployed()
  if (code !== 0) throw new Error(err)
}

/** What the site's log says of a call. */
async function logged(operation: string, payload: object): Promise<string> {
  await site.call(operation, payload)
  const { json } = await site.admin('GET', `/logs?operation=${operation}&limit=1`)
  return json.items[0].message
}

const MUST = {
  bundled: 'exports.must (node_modules/limits/lib/index.js',
  plain: 'must (lib/must.ts',
}

describe.each(['bundled', 'plain'] as const)('the log of a function that is %s', (operation) => {
  test('names file, line and column of every frame of what was thrown', async () => {
    const message = await logged(operation, { total: 11, way: 'throw' })
    expect(message.split('\n').slice(0, 4)).toEqual([
      'TypeError: too much: 11',
      `    at ${MUST[operation]}:3:25)`,
      '    at check (lib/check.ts:6:3)',
      expect.stringMatching(new RegExp(`^ {4}at .*functions/${operation}\\.ts:7:10\\)?$`)),
    ])
  })

  test('names the place of an error that was printed', async () => {
    const message = await logged(operation, { total: 1, way: 'log' })
    expect(message).toMatch(/^RangeError: ☂ logged\n/)
    expect(message).toMatch(new RegExp(`functions/${operation}\\.ts:6:44\\)?$`, 'm'))
    expect(message).not.toContain('.bundle.')
  })
})

describe('croft site profile', () => {
  const profiled = (...more: string[]): Promise<Ran> =>
    croft(['site', 'profile', 'shop.test', '--operation', 'bundled', ...more], {
      CROFT_BASE_URL: stack.baseUrl('127.0.0.1'),
      CROFT_OPERATOR_KEY: stack.operatorKey,
    })

  test('writes the profile of a bundle, at the places that were written', async () => {
    const [input, out] = [join(folder, 'input.json'), join(folder, 'bundled.cpuprofile')]
    await writeFile(input, '{"total":1,"way":"spin","spin":5000000}')
    const ran = await profiled('--input', `@${input}`, '--calls', '2', '--out', out)
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('samples in') })
    const profile: unknown = JSON.parse(await readFile(out, 'utf8'))
    if (!Value.Check(CpuProfile, profile)) throw new Error('this is no profile')
    const urls = new Set(profile.nodes.map(({ callFrame }) => callFrame.url))
    expect(urls).toContain('functions/bundled.ts')
    // What the bundler itself added is in the bundle and nowhere else.
    expect([...urls].join()).not.toContain('croft:')
  })

  test.each([
    [['--input', '{'], '--input is not JSON'],
    [['--calls', '0'], '--calls is no whole number from 1'],
    [['--calls', '2000'], 'calls'],
  ])('refuses %j', async (more, message) => {
    expect(await profiled(...more)).toMatchObject({ err: expect.stringContaining(message) })
  })
})

describe('a deployment of a bundle that throws while it is loaded', () => {
  test('is refused with the place and the line that were written', async () => {
    await write('site/functions/bundled.ts', BROKEN)
    const ran = await deployed()
    expect(ran).toMatchObject({ code: 1, out: '' })
    expect(ran.err).toContain('functions/bundled.ts:5:34')
    expect(ran.err).toContain('> 5 | if (must(1) === undefined) throw')
    expect(ran.err).toContain('too much: 11')
    expect(ran.err.split('croft site deploy:')[1]).not.toContain('.bundle.')
  })

  test('is refused with the place in the package', async () => {
    await write('site/functions/bundled.ts', "import 'limits/broken.js'\nexport default () => 1")
    expect((await deployed()).err).toContain('node_modules/limits/broken.js:2:7')
  })
})

describe('the log of a bundle', () => {
  test('names the places of the code that ran, whatever is deployed since', async () => {
    await site.call('bundled', { total: 12, way: 'throw' })
    await write('site/functions/bundled.ts', "export { must as default } from 'limits'")
    await write('site/lib/check.ts', `// moved\n${CHECK}`)
    await deploy()
    const { json } = await site.admin('GET', '/logs?operation=bundled&limit=1')
    expect(json.items[0].message).toContain('at check (lib/check.ts:6:3)')
  })

  test('keeps the bundle’s own place where no map is left', async () => {
    const code =
      "export default () => { throw new Error('at functions/x.ts.0123456789ab.bundle.mjs:1:2') }"
    await site.publish('unmapped', code)
    expect(await logged('unmapped', {})).toMatch(
      /^Error: at functions\/x\.ts\.0123456789ab\.bundle\.mjs:1:2\n/,
    )
  })
})
