import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { CallProfile } from '#platform/sandbox-host/sandbox.ts'
import { TestSandbox, valueOf } from '#test/test-sandbox.ts'

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await TestSandbox.start()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

/** What is transformed is not where it was written: an enum comes first, and a type that goes. */
const HEAD = `enum Kind { one, two }
interface Gone {
  readonly a: number
}
`

async function programOf(code: string, options: Parameters<TestSandbox['programOf']>[1] = {}) {
  const prepared = await sandbox.hosts.prepare('site', {
    entry: 'src/main.ts',
    files: new Map([['src/main.ts', `${HEAD}${code}`]]),
  })
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.fault))
  return sandbox.programOf(prepared.modules, options)
}

const run = async (code: string, options = {}) => sandbox.call(await programOf(code, options))

const framesOf = (stack: unknown): string[] =>
  String(stack)
    .split('\n')
    .filter((line) => line.startsWith('    at '))

describe('a stack of transformed code', () => {
  test('names the lines that were written, through awaits, and nothing of ours', async () => {
    const outcome = await run(`
async function inner(gone: Gone) {
  await null
  throw new TypeError('no ' + Kind.two)
}
export default async function handler() {
  await inner({ a: 1 })
}`)
    expect(outcome).toMatchObject({ failure: { kind: 'thrown', message: 'no 1' } })
    const { stack } = (outcome as { failure: { stack: string } }).failure
    expect(stack).toBe(
      'TypeError: no 1\n    at inner (src/main.ts:8:9)\n    at async handler (src/main.ts:11:3)',
    )
  })

  test('is so for the code itself, also for causes, aggregates and what the platform throws', async () => {
    const result = await run(`
const stackOf = (work: () => void): string => { try { work(); return '' } catch (e) { return e.stack } }
export default async () => {
  const cause = new Error('why')
  const all = new AggregateError([cause], 'all', { cause })
  const own = {} as Error
  Error.captureStackTrace(own)
  return [cause.stack, all.errors[0].stack, all.cause.stack, own.stack, stackOf(() => void new URL('no'))]
}`)
    const stacks = valueOf(result) as string[]
    const lines = stacks.map((stack) => framesOf(stack)[0])
    expect(lines).toEqual([
      '    at default (src/main.ts:8:17)',
      expect.stringContaining('src/main.ts:8:17'),
      expect.stringContaining('src/main.ts:8:17'),
      expect.stringContaining('src/main.ts:11:9'),
      expect.stringContaining('src/main.ts:12:'),
    ])
    expect(stacks.join('')).not.toMatch(/croft:|<anonymous>\)/)
  })

  test('is written by the site itself if it wants to, and can be read when reading throws', async () => {
    const result = await run(`
export default () => {
  const odd = new Error('odd')
  Object.defineProperty(odd, 'name', { get() { throw new Error('evil') } })
  const text = odd.stack
  const format = Error.prepareStackTrace
  Error.prepareStackTrace = (_error, sites) => sites[0].getFileName()
  const own = new Error('x').stack
  Error.prepareStackTrace = format
  return [text.split('\\n')[0], own, new Error('x').stack.includes('src/main.ts:14:')]
}`)
    expect(valueOf(result)).toEqual(['<error>', 'src/main.ts', true])
  })

  test('of a module that throws while it loads names its line', async () => {
    expect(await run(`\nthrow new Error('at once')\nexport default () => 1`)).toMatchObject({
      failure: {
        kind: 'invalidCode',
        fault: { message: 'at once', path: 'src/main.ts', line: 6, column: 7 },
      },
    })
  })
})

describe('a limit names what was running:', () => {
  test('an endless loop', async () => {
    const outcome = await run(`
function spin(): never {
  for (;;) Kind.one
}
export default async () => {
  await null
  spin()
}`)
    expect(outcome).toMatchObject({
      failure: {
        kind: 'limit',
        what: 'cpuMs',
        at: { path: 'src/main.ts', line: 7 },
        doing: expect.stringMatching(
          /^ {4}at spin \(src\/main\.ts:7:\d+\)\n {4}at .*src\/main\.ts:11:3\)?$/,
        ),
      },
    })
  })

  test.each([
    [
      'a question to the service',
      `\nconst load = async () => {\n  await fetch('http://nowhere.test')\n}\nexport default () => load()`,
      { at: { line: 7 }, doing: /^waiting for fetch\n {4}at .*src\/main\.ts:7:/ },
    ],
    [
      'a timer',
      `\nexport default () => new Promise((done) =>\n  setTimeout(done, 60_000))`,
      { at: { line: 7 }, doing: /^waiting for a timer\n {4}at .*src\/main\.ts:7:3/ },
    ],
    [
      'what nothing settles',
      `\nexport default () => new Promise(() => {})`,
      { doing: /^waiting for a promise: neither a timer nor/ },
    ],
  ])('%s', async (_what, code, { at, doing }: { at?: object; doing: RegExp }) => {
    sandbox.events.answer = () => new Promise(() => {})
    const outcome = await run(code, { fn: { timeoutMs: 300 } })
    expect(outcome).toMatchObject({
      failure: {
        what: 'timeoutMs',
        ...(at === undefined ? {} : { at: { path: 'src/main.ts', ...at } }),
        doing: expect.stringMatching(doing),
      },
    })
    expect(JSON.stringify(outcome)).not.toContain('croft:')
  })
})

describe('a profile', () => {
  // Some 200 ms: what V8 samples each millisecond it samples far less often on a busy machine.
  test('has what the function ran, at the lines that were written, and no code of others', async () => {
    sandbox.events.answer = async () => 'null'
    const program = await programOf(
      `
function work(): number {
  let sum = 0
  for (let i = 0; i < 2e8; i += 1) sum += i % 7
  return sum
}
export default async ({ payload }) => {
  await null
  return [work() > payload, Kind.one]
}`,
      { limits: { cpuMs: 5000 } },
    )
    const other = sandbox.program('export default () => { for (let i = 0; i < 1e6; i += 1); }')
    const call = {
      site: { siteId: program.siteId, domain: program.siteDomain },
      operation: 'op',
      requestId: 'req_profile',
      authority: 'system',
      depth: 0,
      body: '{"payload":1}',
    } as const
    const profiles: CallProfile[] = []
    for (let run = 0; run < 2; run += 1) {
      const [outcome] = await Promise.all([
        sandbox.hosts.profile(call, program, 'main'),
        sandbox.call(other),
      ])
      profiles.push(valueOf(outcome) as CallProfile)
    }
    sandbox.hosts.retire(program)
    for (const { result, stretches } of profiles) {
      expect(result).toEqual([true, 0])
      const nodes = stretches.flatMap((stretch) => stretch.nodes)
      expect(nodes).toContainEqual(
        expect.objectContaining({ functionName: 'work', url: 'src/main.ts', line: 6 }),
      )
      const files = new Set(nodes.map(({ url }) => url).filter((url) => !url.startsWith('croft:')))
      expect([...files].toSorted()).toEqual(['', 'src/main.ts'])
    }
  })
})
