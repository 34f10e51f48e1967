import { setTimeout as sleep } from 'node:timers/promises'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { DeployDesk } from '#test/deploy-desk.ts'
import { type Stack, startStack } from '#test/stack.ts'

type Files = Readonly<Record<string, string>>

interface Fault {
  readonly function?: string | null
  readonly file?: string | null
  readonly line?: number | null
  readonly column?: number | null
  readonly message?: unknown
  readonly frame?: unknown
}

interface Row {
  readonly what: string
  readonly files: Files
  readonly code: string
  readonly faults?: readonly Fault[]
  readonly message?: string
}

/** Two sites with an operation `greet`, called all the time. */
const SITES = ['one.test', 'two.test'] as const
const CALLS_PER_SECOND = 20
const HANDLER = 'export default () => 1'

let stack: Stack
let desk: DeployDesk
let earlier: readonly string[]
let load: Load
beforeAll(async () => {
  stack = await startStack()
  desk = new DeployDesk(stack)
  earlier = await Promise.all(SITES.map((site) => deployed(site, site)))
  for (const site of SITES) await stack.synced(site)
  load = startLoad()
}, 120_000)
afterAll(async () => {
  await load.stop()
  await stack[Symbol.asyncDispose]()
})

/** A croft.json with one function and an operation on it. */
const croftJson = (artifact: string, config: object = {}, more: object = {}): string =>
  JSON.stringify({
    resources: [{ type: 'lambdaFunction', name: 'greet', config: { artifact, ...config } }],
    operations: [{ operation: 'greet', lambdaResource: 'greet', auth: { mode: 'public' } }],
    ...more,
  })

const greeting = (word: string): Files => ({
  'greet.ts': `export default (): string => ${JSON.stringify(word)}`,
  'croft.json': croftJson('greet.ts'),
})

/** A deployment whose function is `code`. */
const withCode = (code: string, file = 'greet.ts', more: Files = {}): Files => ({
  'croft.json': croftJson(file),
  [file]: code,
  ...more,
})

const inFile = (file: string, line: number, column: number, message: unknown): Fault => ({
  function: 'greet',
  file,
  line,
  column,
  message,
  frame: expect.stringMatching(new RegExp(`^> +${line} \\| `, 'm')),
})

const words = (text: string) => expect.stringContaining(text)

const BROKEN: readonly Row[] = [
  {
    what: 'a syntax error in TypeScript',
    files: withCode('const a: number = 1\nexport default () => {\n  return (\n}'),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 4, 1, words('Expression expected'))],
  },
  {
    what: 'a syntax error in JavaScript',
    files: withCode('export default () => {\n  const = 1\n}', 'greet.js'),
    code: 'InvalidCode',
    faults: [inFile('greet.js', 2, 9, "Unexpected token '='")],
  },
  {
    what: 'a syntax error in CommonJS',
    files: withCode('module.exports = () => {\n  let a; let a\n}', 'greet.cjs'),
    code: 'InvalidCode',
    faults: [inFile('greet.cjs', 2, 14, words("'a' has already been declared"))],
  },
  {
    what: 'a syntax error in a file that is imported',
    files: withCode(`import { b } from './lib/b.ts'\n${HANDLER}`, 'greet.ts', {
      'lib/b.ts': 'export const b = {\n  c: 1,,\n}',
    }),
    code: 'InvalidCode',
    faults: [inFile('lib/b.ts', 2, 8, expect.any(String))],
  },
  {
    what: 'a syntax error in what is transformed',
    files: withCode('enum Colour { red }\nexport default () => <a></b>', 'greet.tsx'),
    code: 'InvalidCode',
    faults: [inFile('greet.tsx', 2, 27, words('does not match opening "a" tag'))],
  },
  {
    what: 'a JSON module that is none',
    files: withCode(`import data from './data.json'\n${HANDLER}`, 'greet.ts', {
      'data.json': '{\n  "a": 1,\n}',
    }),
    code: 'InvalidCode',
    faults: [inFile('data.json', 3, 1, words('"data.json" is not JSON: a name in double quotes'))],
  },
  {
    what: 'a file that is not there',
    files: { 'croft.json': croftJson('functions/greet.ts'), 'greet.ts': HANDLER },
    code: 'InvalidCode',
    faults: [
      {
        function: 'greet',
        file: 'functions/greet.ts',
        line: null,
        message: words('"functions/greet.ts" is not a code file of the deployment'),
      },
    ],
  },
  {
    what: 'a misspelt file',
    files: { 'croft.json': croftJson('gret.ts'), 'greet.ts': HANDLER },
    code: 'InvalidCode',
    faults: [{ file: 'gret.ts', message: words('did you mean "greet.ts"?') }],
  },
  {
    what: 'nothing of the function that the site has',
    files: { 'index.html': '<h1>hi</h1>' },
    code: 'InvalidCode',
    faults: [{ function: 'greet', file: 'greet.ts', message: words('keep the file, or delete') }],
  },
  {
    what: 'a relative import of nothing',
    files: withCode(`// comment\nimport { a } from './nope.ts'\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 2, 20, words('imports "./nope.ts", which does not exist'))],
  },
  {
    what: 'an import out of the artifact',
    files: withCode(`import '../../secret.ts'\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 1, 9, words('leaves the artifact'))],
  },
  {
    what: 'a package that is not bundled',
    files: withCode(`import { z } from 'zod'\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 1, 20, words('"zod"'))],
  },
  {
    what: 'a built-in of Node',
    files: withCode(`import fs from 'node:fs'\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 1, 17, words('"node:fs"'))],
  },
  {
    what: 'a required built-in of Node',
    files: withCode(`\nconst fs = require('fs')\nmodule.exports = () => 1`, 'greet.cjs'),
    code: 'InvalidCode',
    faults: [inFile('greet.cjs', 2, 12, words('"fs"'))],
  },
  {
    what: 'an import of a name that is not exported',
    files: withCode(`import { a } from './a.ts'\nexport const c = a\n${HANDLER}`, 'greet.ts', {
      'a.ts': 'export const b = 1',
    }),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 1, 10, words("an export named 'a'"))],
  },
  {
    what: 'no export at all',
    files: withCode('\nconst greet = () => 1'),
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: words('has no handler "default"') }],
  },
  {
    what: 'a handler of another name',
    files: { 'greet.ts': HANDLER, 'croft.json': croftJson('greet.ts', { handler: 'greet' }) },
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: words('no handler "greet"') }],
  },
  {
    what: 'a handler that is no function',
    files: withCode('\nexport default { answer: 42 }'),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 2, 8, words('what it exports so is none'))],
  },
  {
    what: 'a throw at load',
    files: withCode(`const config: null = null\nconst { key } = config\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 2, 9, words('Cannot destructure'))],
  },
  {
    what: 'a throw at load in a file that is imported',
    files: withCode(`import './b.ts'\n${HANDLER}`, 'greet.ts', {
      'b.ts': '\nthrow new Error("out of b")',
    }),
    code: 'InvalidCode',
    faults: [inFile('b.ts', 2, 7, 'out of b')],
  },
  {
    what: 'a top-level await that rejects',
    files: withCode(
      `await new Promise((go) => setTimeout(go, 5))\nawait Promise.reject(new Error('late'))\n${HANDLER}`,
    ),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 2, 22, 'late')],
  },
  {
    what: 'a top-level await that never settles',
    files: withCode(`await new Promise(() => {})\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: words('never settles') }],
  },
  {
    what: 'a top-level await that takes too long',
    files: {
      'croft.json': croftJson('greet.ts', { timeoutSeconds: 0.3 }),
      'greet.ts': `await new Promise((go) => setTimeout(go, 60_000))\n${HANDLER}`,
    },
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: words('(timeoutMs)') }],
  },
  {
    what: 'a question to the network at load',
    files: withCode(`await fetch('https://example.test/')\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [
      { file: 'greet.ts', message: words('"fetch" cannot be used while the code is loaded') },
    ],
  },
  {
    what: 'an endless loop at load',
    files: withCode(`for (;;) {}\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: words('(cpuMs)') }],
  },
  {
    what: 'a hoard of memory at load',
    files: withCode(
      `const all: unknown[] = []\nfor (;;) all.push(new Array(100_000).fill(all.length))\n${HANDLER}`,
    ),
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: expect.stringMatching(/\((memoryMb|cpuMs)\)$/) }],
  },
  {
    what: 'what ends the process that loads it',
    files: withCode(`const all = new Map()\nfor (let at = 0; ; at++) all.set({}, {})\n${HANDLER}`),
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', message: expect.stringMatching(/\((memoryMb|cpuMs)\)$/) }],
  },
  {
    what: 'a circle of imports that is used too early',
    files: withCode(`import { b } from './b.ts'\nexport const a = b\n${HANDLER}`, 'greet.ts', {
      'b.ts': `import { a } from './greet.ts'\nexport const b = a + 1`,
    }),
    code: 'InvalidCode',
    faults: [inFile('b.ts', 2, 18, words("'a' before initialization"))],
  },
  {
    what: 'a variable that is not set',
    files: withCode(
      `const key = Deno.env.get('KEY')\nif (key === undefined) throw new Error('KEY is not set')\n${HANDLER}`,
    ),
    code: 'InvalidCode',
    faults: [inFile('greet.ts', 2, 30, 'KEY is not set')],
  },
  {
    what: 'a NUL in the source',
    files: withCode(`\n/* \0 */ ${HANDLER}`),
    code: 'InvalidCode',
    faults: [{ file: 'greet.ts', line: 2, column: 4, message: words('NUL') }],
  },
  {
    what: 'inline code that throws',
    files: {
      ...greeting('new'),
      'croft.json': croftJson(
        'greet.ts',
        {},
        {
          resources: [
            { type: 'lambdaFunction', name: 'greet', config: { artifact: 'greet.ts' } },
            { type: 'lambdaFunction', name: 'inline', config: { code: `\nthrow new Error('in')` } },
          ],
        },
      ),
    },
    code: 'InvalidCode',
    faults: [{ function: 'inline', file: null, line: 2, column: 7, message: 'in' }],
  },
  {
    what: 'several faults, which are reported together',
    files: {
      'croft.json': JSON.stringify({
        resources: ['a', 'b', 'c'].map((name) => ({
          type: 'lambdaFunction',
          name,
          config: { artifact: `${name}.ts` },
        })),
      }),
      'greet.ts': HANDLER,
      'a.ts': 'throw new Error("a")',
      'b.ts': HANDLER,
      'c.ts': '\n(',
    },
    code: 'InvalidCode',
    faults: [
      { function: 'a', file: 'a.ts', line: 1 },
      { function: 'c', file: 'c.ts', line: expect.any(Number) as number },
    ],
  },
  {
    what: 'a croft.json that is no JSON',
    files: { ...greeting('new'), 'croft.json': '{\n  "resources": [\n    { type: 1 }\n  ]\n}' },
    code: 'InvalidArtifact',
    faults: [
      { file: 'croft.json', line: 3, column: 7, message: words('double quotes'), frame: null },
    ],
  },
  {
    what: 'an unknown section in croft.json',
    files: { ...greeting('new'), 'croft.json': '{\n  "tables": []\n}' },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 2, message: words('tables: is not a known field') }],
  },
  {
    what: 'an unknown field in croft.json',
    files: {
      ...greeting('new'),
      'croft.json': `{"resources":[\n{"type":"lambdaFunction","name":"f","config":{"artifact":"greet.ts",\n"memory":128}}]}`,
    },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 3, message: words('resources[0].config.memory') }],
  },
  {
    what: 'a wrong type in croft.json',
    files: {
      ...greeting('new'),
      'croft.json': `{"resources":[\n{"type":"queue",\n"name":"q"}]}`,
    },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 2, message: words('resources[0].type') }],
  },
  {
    what: 'an operation on a function that is not there',
    files: {
      ...greeting('new'),
      'croft.json': `{"operations":[\n{"operation":"x","lambdaResource":"nobody"}]}`,
    },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 2, message: words('resource "nobody" is neither') }],
  },
  {
    what: 'a preset on a table that is not there',
    files: {
      ...greeting('new'),
      'croft.json': `{"operations":[\n{"operation":"x","preset":"ddb.get","resource":"nothing"}]}`,
    },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 2, message: words('resource "nothing" is neither') }],
  },
  {
    what: 'a job for an operation that is not there',
    files: { ...greeting('new'), 'croft.json': `{"jobs":[\n{"jobId":"j","operation":"nope"}]}` },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 2, message: words('operation "nope" is neither') }],
  },
  {
    what: 'an operation for a group that is not there',
    files: {
      ...greeting('new'),
      'croft.json': `{"operations":[\n{"operation":"x","preset":"echo","auth":{"mode":"groups",\n"groups":["nobody"]}}]}`,
    },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 3, message: words('group "nobody" is neither') }],
  },
  {
    what: 'a job that runs as an unknown user',
    files: {
      ...greeting('new'),
      'croft.json': `{"jobs":[\n{"jobId":"j","operation":"greet",\n"auth":{"mode":"user","username":"no@one.test"}}]}`,
    },
    code: 'ValidationError',
    faults: [{ file: 'croft.json', line: 3, message: words('user "no@one.test" does not exist') }],
  },
  {
    what: 'more code than a site may have',
    files: { ...greeting('new'), 'data.json': JSON.stringify('x'.repeat(10 * 1024 * 1024)) },
    code: 'InvalidArtifact',
    message: 'scripts and JSON have',
  },
]

describe('a deployment that is broken by', () => {
  test.each(BROKEN)('$what is refused with its place, and nothing changes', async (row) => {
    const { deploymentId, answer } = await desk.attempt('one.test', row.files)
    expect(answer, answer.text).toMatchObject({ status: 400, json: { error: { code: row.code } } })
    expect(answer.json.error.message).toContain(row.message ?? '')
    const { faults = [] } = answer.json.error
    expect(faults).toMatchObject(row.faults ?? [])
    expect(faults).toHaveLength(row.faults?.length ?? 0)
    if (deploymentId === undefined) return
    const base = '/sites/one.test/deployments'
    expect((await stack.portal('GET', `${base}/current`)).json.deploymentId).toBe(earlier[0])
    expect((await stack.portal('GET', `${base}/${deploymentId}`)).json).toMatchObject({
      status: 'failed',
      error: answer.json.error.message,
      current: false,
    })
  })

  test('nothing is activated, and works at once', async () => {
    await desk.attempt('one.test', withCode('throw 1'))
    const { answer } = await desk.attempt('two.test', greeting('two.test'))
    expect(answer.status, answer.text).toBe(200)
    await stack.synced('two.test')
    expect((await greet('two.test')).json).toEqual({ ok: true, data: 'two.test' })
  })

  test('anything was seen by no visitor', () => {
    expect(load.failures).toEqual([])
    expect(load.calls).toBeGreaterThan(200)
  })
})

describe('a function', () => {
  test('is loaded with the variables that its deployment brings', async () => {
    const code = `if (Deno.env.get('MODE') !== 'live') throw new Error('no mode')\n${HANDLER}`
    const files = {
      ...greeting('one.test'),
      'env.ts': code,
      'croft.json': croftJson(
        'greet.ts',
        {},
        {
          envVars: [{ name: 'MODE', value: 'live' }],
          resources: [
            {
              type: 'lambdaFunction',
              name: 'env',
              config: { artifact: 'env.ts', environment: ['MODE'] },
            },
          ],
          operations: [],
        },
      ),
    }
    const { answer } = await desk.attempt('one.test', files)
    expect(answer.status, answer.text).toBe(200)
    await stack.synced('one.test')
  })

  test('that throws a secret does not tell it', async () => {
    const secret = 'hunter2-hunter2-hunter2'
    const files = {
      ...greeting('two.test'),
      'leak.ts': `throw new Error('with ' + Deno.env.get('SECRET'))`,
      'croft.json': croftJson(
        'greet.ts',
        {},
        {
          envVars: [{ name: 'SECRET', value: secret, secret: true }],
          resources: [
            {
              type: 'lambdaFunction',
              name: 'leak',
              config: { artifact: 'leak.ts', environment: ['SECRET'] },
            },
          ],
        },
      ),
    }
    const { deploymentId, answer } = await desk.attempt('two.test', files)
    expect(answer.json.error.faults).toMatchObject([{ message: 'with [secret SECRET]' }])
    const record = await stack.portal('GET', `/sites/two.test/deployments/${deploymentId}`)
    expect(answer.text + record.text).not.toContain(secret)
  })
})

const greet = (site: string) => stack.call(site, 'POST', '/data/public/greet', { body: {} })

async function deployed(site: string, word: string): Promise<string> {
  const { deploymentId, answer } = await desk.attempt(site, greeting(word))
  if (answer.status !== 200 || deploymentId === undefined) throw new Error(answer.text)
  return deploymentId
}

interface Load {
  readonly failures: string[]
  readonly calls: number
  stop(): Promise<void>
}

/** Calls both sites at a steady rate, whether the earlier calls have been answered or not. */
function startLoad(): Load {
  const failures: string[] = []
  const open = new Set<Promise<void>>()
  let calls = 0
  let stopped = false
  const call = async (site: string): Promise<void> => {
    const { status, text } = await greet(site).catch((error: unknown) => ({
      status: 0,
      text: String(error),
    }))
    const expected = JSON.stringify({ ok: true, data: site })
    if (status !== 200 || text !== expected) failures.push(`${site}: ${status} ${text}`)
  }
  const calling = (async () => {
    while (!stopped) {
      await sleep(1000 / CALLS_PER_SECOND)
      for (const site of SITES) {
        calls += 1
        const running = call(site).finally(() => open.delete(running))
        open.add(running)
      }
    }
    await Promise.all(open)
  })()
  return {
    failures,
    get calls() {
      return calls
    },
    async stop() {
      stopped = true
      await calling
    },
  }
}
