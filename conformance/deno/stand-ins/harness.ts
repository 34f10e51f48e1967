import type { Finding } from '#conformance/lanes/protocol.ts'

/** How long one test may wait. */
const TEST_MS = 5000
/** What is not given here, and a test that asks for it is not counted. */
const NOT_GIVEN = ['read', 'write', 'net', 'run', 'ffi', 'sys']

interface Reporter {
  readonly report: (finding: Finding) => void
}

interface TestOptions {
  readonly name?: string
  readonly fn?: TestBody
  readonly ignore?: boolean
  readonly permissions?: 'inherit' | 'none' | Readonly<Record<string, unknown>>
}

interface TestContext {
  readonly name: string
  step(first: string | TestBody | TestOptions, second?: TestBody): Promise<boolean>
}

type TestBody = (context: TestContext) => unknown
type TestArguments = readonly (string | TestBody | TestOptions | undefined)[]

interface RegisteredTest {
  readonly name: string
  readonly run: TestBody
  readonly skipped: string | undefined
}

const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis
const { report } = (globalThis as unknown as { conformance: Reporter }).conformance
const registered: RegisteredTest[] = []

/** In the place of `Deno.test`: `(name, fn)`, `(fn)`, `(options)`, `(options, fn)`, `(name, options, fn)`. */
export const denoTest = Object.assign((...args: TestArguments) => register(args, {}), {
  ignore: (...args: TestArguments) => register(args, { ignore: true }),
  only: (...args: TestArguments) => register(args, {}),
  beforeAll: () => {},
  beforeEach: () => {},
  afterEach: () => {},
  afterAll: () => {},
})

/** Runs what was registered, in its order, one after another. */
export async function runTests(): Promise<void> {
  for (const { name, run, skipped } of registered) {
    if (skipped === undefined) report(await outcomeOf(name, run))
    else report({ name, outcome: 'skipped', message: skipped })
  }
  report({ done: true })
}

function register(args: TestArguments, more: TestOptions): void {
  const { name, fn, ...options } = { ...readArguments(args), ...more }
  const called = name ?? fn?.name ?? ''
  const taken = registered.filter((other) => other.name.replace(/ #\d+$/, '') === called).length
  registered.push({
    name: taken === 0 ? called : `${called} #${taken + 1}`,
    run: fn ?? (() => {}),
    skipped: reasonToSkip(options),
  })
}

function readArguments(args: TestArguments): TestOptions {
  const options: { name?: string; fn?: TestBody } = {}
  for (const arg of args) {
    if (typeof arg === 'string') options.name = arg
    else if (typeof arg === 'function') options.fn = arg
    else Object.assign(options, arg)
  }
  return options
}

function reasonToSkip({ ignore, permissions }: TestOptions): string | undefined {
  if (ignore === true) return 'It is ignored'
  if (typeof permissions !== 'object') return undefined
  const asked = NOT_GIVEN.filter(
    (name) => permissions[name] !== undefined && permissions[name] !== false,
  )
  return asked.length > 0 ? `It asks for ${asked.join(', ')}` : undefined
}

async function outcomeOf(name: string, run: TestBody): Promise<Finding> {
  const late = Promise.withResolvers<never>()
  const timer = startTimer(
    () => late.reject(new Error(`It does not end within ${TEST_MS} ms`)),
    TEST_MS,
  )
  try {
    await Promise.race([contained(name, run), late.promise])
    return { name, outcome: 'passed', message: '' }
  } catch (error) {
    return { name, outcome: 'failed', message: String(error).slice(0, 400) }
  } finally {
    stopTimer(timer)
  }
}

/** A test fails with any of its steps. */
async function contained(name: string, run: TestBody): Promise<void> {
  const failures: unknown[] = []
  const step = async (
    first: string | TestBody | TestOptions,
    second?: TestBody,
  ): Promise<boolean> => {
    const { fn, ignore, ...options } = readArguments([first, second])
    if (ignore === true || !fn) return true
    try {
      await contained(options.name ?? fn.name, fn)
      return true
    } catch (error) {
      failures.push(error)
      return false
    }
  }
  await run({ name, step })
  if (failures.length > 0)
    throw new AggregateError(failures, `A step fails: ${String(failures[0])}`)
}
